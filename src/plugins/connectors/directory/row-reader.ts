import type { FileHandle } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { RowSplitter, type RowSplitterOptions, type TextRow } from './row-splitter.ts'

const CHUNK_BYTES = 256 * 1024

export type RowsOptions = RowSplitterOptions & { readonly open: () => Promise<FileHandle>; readonly isGzip: boolean }

/**
 * Yields the rows of a file after a position, in one array per chunk that was read. In a gzip file, positions refer to
 * the uncompressed content. Rejects with errors of the system or of zlib.
 */
export async function* readRows(options: RowsOptions): AsyncGenerator<readonly TextRow[]> {
  const splitter = new RowSplitter(options)
  for await (const chunk of readBytes(options)) {
    const rows = splitter.push(chunk)
    if (rows.length > 0) yield rows
  }
  const rows = splitter.end()
  if (rows.length > 0) yield rows
}

async function* readBytes({ open, isGzip, position }: RowsOptions): AsyncGenerator<Buffer> {
  const handle = await open()
  if (!isGzip) {
    yield* handle.createReadStream({ start: position, highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>
    return
  }
  const compressed = handle.createReadStream({ highWaterMark: CHUNK_BYTES })
  const decompressed = createGunzip({ chunkSize: CHUNK_BYTES })
  compressed.once('error', (error) => decompressed.destroy(error))
  compressed.pipe(decompressed)
  try {
    let bytesToSkip = position
    for await (const chunk of decompressed as AsyncIterable<Buffer>) {
      const skipped = Math.min(bytesToSkip, chunk.length)
      bytesToSkip -= skipped
      if (skipped < chunk.length) yield chunk.subarray(skipped)
    }
  } finally {
    compressed.destroy()
  }
}
