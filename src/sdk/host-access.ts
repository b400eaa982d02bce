import type { FileHandle } from 'node:fs/promises'
import type { LookupFunction } from 'node:net'

// Access of plugins to files and the network. The administrator of the worker restricts both (`connector.paths.*`,
// `connector.urls.*`), so a plugin that opens files or connections itself must use these functions. They reject access that
// is not allowed with an error whose `code` is `not_allowed`.

export type FileAccess = {
  /** The real path of a file or directory, which need not exist. Rejects when it is not allowed. */
  realPath(path: string): Promise<string>
  /** Throws when a file or directory is not allowed. */
  checkPath(path: string): void
  /** As `open` of `node:fs/promises`. */
  open(path: string, flags?: OpenFlags): Promise<FileHandle>
  /** Reads a small file, such as a certificate or a schema. */
  readFileSync(path: string): Buffer
  /** Opens a directory. Files that were opened in it stay open when it is closed. */
  openDirectory(path: string, options?: { readonly create?: boolean }): Promise<OpenDirectory>
}

export type OpenFlags = 'r' | 'a+'

export type OpenDirectory = AsyncDisposable & {
  /**
   * A path to the opened directory, even if its name refers to another directory in the meantime. Join names of entries to it. An entry
   * may be a symbolic link, so use calls that do not follow links (`lstat`, `rename`, `rm`, `openEntry`).
   */
  readonly path: string
  /** Opens a file of the directory for reading. Rejects with `ELOOP` when the entry is a symbolic link. */
  openEntry(name: string): Promise<FileHandle>
}

export type NetworkAccess = {
  /**
   * Options for `net.connect`, `tls.connect` and requests of `node:http` and `node:https` to a host: the name is resolved to
   * allowed addresses only. Throws when the host is not allowed. An IPv6 host may be in brackets.
   */
  connectOptions(host: string, port: number): { readonly lookup?: LookupFunction }
  /** An allowed address of a host. */
  resolve(host: string, port: number): Promise<string>
  /** Throws when connectors may not listen on this address. */
  checkListener(host: string, port: number): void
}

/** Whether an error means that the administrator of the worker does not allow the access. It is not retriable. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && (error as { readonly code?: unknown }).code === 'not_allowed'
}

/**
 * What a value refers to. `path`: a file or directory; `url`: URLs or hosts, separated by commas; `listener`: a URL to listen on;
 * `read topic` and `written topic`: names of topics, separated by commas.
 */
export type Reaches = 'path' | 'url' | 'listener' | 'read topic' | 'written topic'

/** Access to files and the network, which plugins receive beside their configuration. */
export type HostAccess = { readonly files: FileAccess; readonly network: NetworkAccess }
