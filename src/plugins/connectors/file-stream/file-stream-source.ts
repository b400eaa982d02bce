import { setTimeout as sleep } from 'node:timers/promises'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import {
  defineSource,
  type FileAccess,
  field,
  type Position,
  type SourceRecord,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { type Input, openFileInput, openStreamInput, pauseAtEnd, pauseWithoutFile } from './file-input.ts'
import { LineSplitter } from './line-splitter.ts'

const config = z.object({
  file: field
    .path({ doc: 'Source filename. If not specified, the standard input will be used', importance: 'HIGH' })
    .optional(),
  topic: field.text({
    reaches: 'written topic',
    doc: 'The topic to publish data to',
    importance: 'HIGH',
    nonEmpty: true,
  }),
  'batch.size': field
    .int({
      doc: 'The maximum number of records the source task can read from the file each time it is polled',
      importance: 'LOW',
      min: 1,
    })
    .default(2000),
})

/** Reads the lines of a file. Continues as the file grows, and waits if it does not exist yet. */
export const fileStreamSource = defineSource({
  class: 'FileStreamSource',
  aliases: ['org.apache.kafka.connect.file.FileStreamSourceConnector', 'FileStreamSourceConnector'],
  version: SHIPPED_VERSION,
  summary: 'Writes each line of a file to a topic, and continues as the file grows.',
  notes: `
A line ends in \`\\n\`, \`\\r\\n\` or \`\\r\`; a last line without a line end is written when its line end has been appended. If the file does not
exist yet, the task waits for it. Values are strings with a string schema. The file is read as UTF-8; invalid bytes become U+FFFD, so such
a file is not reproduced byte by byte by the sink.

The offset of \`{"filename": FILE}\` is \`{"position": BYTES}\`, the position after the last line that was written. If the file is shorter
than that, it was truncated or replaced, and the task fails.
`,
  config,
  async *poll({ config: { file, topic, 'batch.size': batchSize }, signal, resumeFrom, log, files }) {
    const sourcePartition = { filename: file ?? null }
    const startsAt = file ? startPosition(file, resumeFrom(sourcePartition)) : 0
    const toRecord = (value: string, position: number): SourceRecord => ({
      topic,
      value,
      valueSchema: STRING,
      sourcePartition,
      sourceOffset: { position },
    })
    let opened = await openInput(file, files)
    if (!opened) log.warn({ file }, 'waiting for the file to be created')
    for (let absentMs = 0; !opened && !signal.aborted; opened = await openInput(file, files)) {
      yield []
      const pauseMs = pauseWithoutFile(absentMs)
      await idle(pauseMs, signal)
      absentMs += pauseMs
    }
    if (!opened) return
    await using input = opened
    // Allocated late: a task that waits for its file does not need the buffer.
    const lines = new LineSplitter(startsAt)
    let idleMs = 0
    while (!signal.aborted) {
      const batch = lines.take(batchSize, toRecord)
      if (batch.length > 0) {
        yield batch
        continue
      }
      const bytes = await input.read(lines.room(), lines.readPosition)
      lines.filled(bytes)
      if (bytes > 0) {
        idleMs = 0
        continue
      }
      yield batch
      const pauseMs = pauseAtEnd(idleMs)
      await idle(pauseMs, signal)
      idleMs += pauseMs
    }
  },
  alterOffsets({ file }, offsets) {
    if (!file) {
      throw new Error(
        "Offsets cannot be modified if the 'file' configuration is unspecified. " +
          'This is because stdin is used for input and offsets are not tracked.',
      )
    }
    for (const { partition, offset } of offsets) {
      // Any offset may be deleted, including one that this connector cannot have stored.
      if (offset !== null) checkOffset(partition, offset)
    }
  },
})

async function openInput(file: string | undefined, files: FileAccess): Promise<Input | undefined> {
  return file ? openFileInput(file, files) : openStreamInput(process.stdin)
}

async function idle(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

function startPosition(file: string, offset: Position | undefined): number {
  if (offset === undefined) return 0
  const position = offset['position']
  if (isPosition(position)) return position
  throw new Error(`the stored offset of '${file}' has no usable position: ${plainJson(offset)}`)
}

function checkOffset(partition: Position | null, offset: Position): void {
  const position = offset['position']
  if (position === undefined) {
    throw new Error("Offset objects should either be null or contain the key 'position'")
  }
  if (!Number.isSafeInteger(position)) {
    throw new Error("The value for the 'position' key in the offset is expected to be a Long value")
  }
  if (!isPosition(position)) {
    throw new Error("The value for the 'position' key in the offset should be a non-negative value")
  }
  if (partition === null) throw new Error('Partition objects cannot be null')
  if (partition['filename'] === undefined) {
    throw new Error("Partition objects should contain the key 'filename'")
  }
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
