import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../common/errors.ts'
import { UsageError } from '../command.ts'

/** A file of the input. The bytes are decoded by the reader of its format. */
export type ConversionFile = {
  /** As it is shown in messages. */
  readonly file: string
  readonly bytes: Buffer
  /** The directory that relative paths in the file refer to; undefined for standard input. */
  readonly folder: string | undefined
  /** Files outside of this directory are not read on behalf of the input. */
  readonly root: string | undefined
}

export type ConversionFileError = { readonly file: string; readonly message: string }

export type ConversionInput = {
  readonly files: readonly ConversionFile[]
  readonly errors: readonly ConversionFileError[]
}

export const STDIN = '<stdin>'
const CONVERTIBLE = /\.(?:ya?ml|json|properties|tf)$/i
const FILE_BYTES_MAX = 64 * 1024 * 1024

/** Reads files, the convertible files of directories in the order of their paths, and `-` for standard input. */
export function readInput(paths: readonly string[]): ConversionInput {
  const files: ConversionFile[] = []
  const errors: ConversionFileError[] = []
  const add = (file: string, folder: string | undefined, root: string | undefined) => {
    try {
      const size = folder === undefined ? 0 : statSync(file).size
      if (size > FILE_BYTES_MAX) throw new Error(`it has ${size} bytes: at most ${FILE_BYTES_MAX} are read`)
      const bytes = readFileSync(folder === undefined ? 0 : file)
      files.push({ file: folder === undefined ? STDIN : file, bytes, folder, root })
    } catch (error) {
      errors.push({ file, message: `cannot be read: ${messageOf(error)}` })
    }
  }
  for (const path of paths) {
    if (path === '-') {
      add(path, undefined, undefined)
      continue
    }
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw new UsageError(`${path} does not exist`)
    if (stat.isDirectory()) for (const { file, folder } of convertibleFiles(path, errors)) add(file, folder, path)
    else add(path, join(path, '..'), join(path, '..'))
  }
  return { files, errors }
}

function convertibleFiles(folder: string, errors: ConversionFileError[]): readonly { file: string; folder: string }[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    return entries.flatMap((entry) => {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
      const file = join(folder, entry.name)
      if (entry.isDirectory()) return convertibleFiles(file, errors)
      // A symbolic link to a directory is not followed, so that links cannot form a cycle.
      return CONVERTIBLE.test(entry.name) && statSync(file, { throwIfNoEntry: false })?.isFile() === true
        ? [{ file, folder }]
        : []
    })
  } catch (error) {
    errors.push({ file: folder, message: `cannot be listed: ${messageOf(error)}` })
    return []
  }
}

/** The text of a UTF-8 file, without a byte order mark; undefined if it is not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
