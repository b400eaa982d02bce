import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ConversionReport } from './conversion-report.ts'
import { type ConversionFile, decodeUtf8 } from './input-files.ts'

/** The text of a file, or why it is not read, as the end of a sentence. */
export type ReadText = { readonly text: string } | { readonly problem: string }

/** The systems whose resources can be converted; what `--from` accepts. */
export const SOURCES = ['strimzi', 'confluent', 'redpanda', 'jikkou', 'terraform', 'connect', 'weir'] as const
export type Source = (typeof SOURCES)[number]

/** The options and the report that each converter receives in addition to the object that it converts. */
export type ConversionContext = {
  readonly report: ConversionReport
  /** The only system whose resources are converted; undefined: all systems. */
  readonly from: Source | undefined
  /** Whether the command line names the worker cluster. Fields with the address of another one are then not needed. */
  readonly isWorkerNamed: boolean
  readonly isRegistryNamed: boolean
  /** Reads a file that a file of the input names by a relative path. */
  readFile(file: string, path: string): ReadText
}

/** What converters of Kubernetes objects may use in addition. */
export type ObjectContext = ConversionContext & {
  /** The text of a key of a ConfigMap of the input; undefined if the input has none with this name. */
  configMapText(namespace: string | undefined, name: string, key: string): string | undefined
}

/** The API server accepts no larger schema. */
const TEXT_BYTES_MAX = 1024 * 1024

/**
 * Reads files next to those of the input. A file outside of the directory that was given to convert is not read, so that
 * a hostile manifest cannot copy other files of the machine into the output.
 */
export function readerOfNeighbors(files: readonly ConversionFile[]): ConversionContext['readFile'] {
  const byName = new Map(files.map((input) => [input.file, input]))
  return (file, path) => {
    const { folder, root } = byName.get(file) ?? {}
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return { problem: 'is a URL, which is not read' }
    if (folder === undefined || root === undefined) return { problem: 'is relative to a file, not to standard input' }
    try {
      const found = realpathSync(resolve(folder, path))
      const fromRoot = relative(realpathSync(root), found)
      if (isAbsolute(fromRoot) || fromRoot.split(sep)[0] === '..') return { problem: `is outside of ${root}` }
      if (statSync(found).size > TEXT_BYTES_MAX) return { problem: `has more than ${TEXT_BYTES_MAX} bytes` }
      const text = decodeUtf8(readFileSync(found))
      return text === undefined ? { problem: 'is not encoded in UTF-8' } : { text }
    } catch {
      return { problem: 'cannot be read' }
    }
  }
}
