import type { FileHandle } from 'node:fs/promises'
import { javaText } from '../../../java-compat/java-text.ts'
import { defineSink, field, type SinkRecord, type SinkTask, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'

const config = z.object({
  file: field
    .path({ doc: 'Destination filename. If not specified, the standard output will be used', importance: 'HIGH' })
    .optional(),
})

/** Writes each record's value as a line of a file. Offsets are committed after the lines are flushed to disk. */
export const fileStreamSink = defineSink({
  class: 'FileStreamSink',
  aliases: ['org.apache.kafka.connect.file.FileStreamSinkConnector', 'FileStreamSinkConnector'],
  version: SHIPPED_VERSION,
  summary: 'Appends the value of each record to a file, one line per record.',
  notes: `
Values are formatted as by Java's \`String.valueOf\`; strings are written unchanged. Offsets are committed after the lines are flushed to
disk: after a crash, the lines since the last commit are written again and none is lost. If a crash left an incomplete line, a line end is
appended to it, and its record is written again as a line of its own.
`,
  config,
  start: async ({ config: { file }, log, files }) => {
    if (!file) return toStandardOutput()
    const handle = await files.open(file, 'a+').catch((error: Error) => {
      throw new Error(`cannot open '${file}': ${error.message}`, { cause: error })
    })
    if (await endsWithIncompleteLine(handle)) {
      // A writer that was killed left an incomplete line. Its record is delivered again and must not be appended to it.
      log.warn({ file }, 'the last line of the file is incomplete; a line end is appended')
      await handle.appendFile('\n')
    }
    return toFile(handle, file)
  },
})

function toFile(handle: FileHandle, file: string): SinkTask {
  const failing = (consequence: string) => (error: Error) => {
    throw new Error(`cannot write to '${file}': ${error.message}. No record is lost: ${consequence}`, { cause: error })
  }
  return {
    put: (records) => handle.appendFile(toLines(records)).catch(failing('correct the cause, then restart the task')),
    flush: () => sync(handle).catch(failing('the records since the last commit are written again')),
    stop: () => handle.close(),
  }
}

function toStandardOutput(): SinkTask {
  return {
    put: (records) =>
      new Promise((resolve, reject) => {
        process.stdout.write(toLines(records), (error) => (error ? reject(error) : resolve()))
      }),
  }
}

function toLines(records: readonly SinkRecord[]): string {
  let lines = ''
  for (const { value, valueSchema } of records) lines += `${javaText(value, valueSchema)}\n`
  return lines
}

async function endsWithIncompleteLine(handle: FileHandle): Promise<boolean> {
  const stat = await handle.stat()
  if (!stat.isFile() || stat.size === 0) return false
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, stat.size - 1)
  return buffer[0] !== 10
}

async function sync(handle: FileHandle): Promise<void> {
  await handle.datasync().catch((error: NodeJS.ErrnoException) => {
    // Pipes and terminals cannot be flushed.
    if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error
  })
}
