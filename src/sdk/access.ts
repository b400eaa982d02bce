import type { FileHandle } from 'node:fs/promises'
import type { LookupFunction } from 'node:net'

// What a plugin uses of the machine and the network. The worker's administrator restricts both (`connector.paths.*`,
// `connector.urls.*`), so a plugin that opens files or connections itself has to do it through these. What is not
// allowed is refused with an error whose `code` is `not_allowed`.

export type FileAccess = {
  /** The real path that a file or directory of this name has, or would have. Rejects when it is not allowed. */
  realPath(path: string): Promise<string>
  /** Throws when a file or directory of this name is not allowed. */
  checkPath(path: string): void
  /** As `open` of `node:fs/promises`. */
  open(path: string, flags?: OpenFlags): Promise<FileHandle>
  /** The whole of a small file, such as a certificate or a schema. */
  readFileSync(path: string): Buffer
  /** A directory to work in. Closing it ends nothing that was opened in it. */
  openDirectory(path: string, options?: { readonly create?: boolean }): Promise<OpenDirectory>
}

export type OpenFlags = 'r' | 'a+'

export type OpenDirectory = AsyncDisposable & {
  /**
   * The directory itself, also when its name leads elsewhere by now: join the names of its entries to this. A name may be a
   * symbolic link, so use calls that do not follow it (`lstat`, `rename`, `rm`, `openEntry`).
   */
  readonly path: string
  /** Opens a file in it for reading. Rejects when the name is a symbolic link (`ELOOP`). */
  openEntry(name: string): Promise<FileHandle>
}

export type NetworkAccess = {
  /**
   * Options for `net.connect`, `tls.connect` and requests of `node:http` and `node:https` to this host: names are resolved to
   * addresses that are allowed. Throws when the host itself is not. A URL's host may stand in brackets.
   */
  connectOptions(host: string, port: number): { readonly lookup?: LookupFunction }
  /** An address of this host that is allowed. */
  resolve(host: string, port: number): Promise<string>
  /** Throws when a connector may not listen there. */
  checkListener(host: string, port: number): void
}

/** Whether something failed because the worker's administrator does not allow it: trying again changes nothing. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && (error as { readonly code?: unknown }).code === 'not_allowed'
}

/** What a value leads to. `path`: a file or directory; `url`: URLs or hosts, by commas; `listener`: a URL to listen at. */
export type Reaches = 'path' | 'url' | 'listener'

/** What plugins are given beside their configuration. */
export type HostAccess = { readonly files: FileAccess; readonly network: NetworkAccess }
