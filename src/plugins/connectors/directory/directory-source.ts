import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { javaRegex, regexField } from '../../../java-compat/java-regex.ts'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import {
  type ConfigProblem,
  DataError,
  defineSource,
  field,
  type Position,
  type SourceContext,
  type SourceRecord,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { FileTracker } from './file-tracker.ts'
import { type CleanupPolicy, InputDirectory, type InputFile, openInputFile } from './input-directory.ts'
import { CSV_TYPES, type CsvType, csv, csvFields, NDJSON, parseRows, type RowFormat, TEXT } from './row-format.ts'
import { readRows } from './row-reader.ts'
import type { TextRow } from './row-splitter.ts'

/** Key in the configuration of each task: number of tasks that share the directory. */
const TASKS_KEY = 'directory.tasks'

const config = z
  .object({
    topic: field.text({ reaches: 'written topic', doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    'input.path': field.path({ doc: 'Directory to read files from.', importance: 'HIGH', nonEmpty: true }),
    'input.file.pattern': regexField('input.file.pattern', {
      doc: 'Java regular expression that the whole file name must match.',
      importance: 'HIGH',
    }).default('.*'),
    format: field
      .oneOf(['auto', 'csv', 'ndjson', 'text'], {
        doc: 'Format of the files. auto: by extension, .csv is CSV; .ndjson, .jsonl and .json are JSON lines; others are text. Each may have .gz appended.',
        importance: 'HIGH',
      })
      .default('auto'),
    'finished.policy': field
      .oneOf(['move', 'mark', 'delete', 'keep'], {
        doc:
          'Action for a file whose records are all stored in Kafka: move it to finished.path, rename it by appending ' +
          'finished.suffix, delete it, or keep it unchanged, for read-only directories such as mounted ConfigMaps.',
        importance: 'HIGH',
      })
      .default('mark'),
    'finished.path': field
      .path({ doc: 'With finished.policy=move: directory for files that were read completely.' })
      .default(''),
    'finished.suffix': field
      .text({ doc: 'With finished.policy=mark: suffix that is appended to the name.', nonEmpty: true })
      .default('.done'),
    'error.path': field
      .path({
        doc: 'With finished.policy=move: directory for files that cannot be read to the end. Default: the subdirectory failed of finished.path.',
      })
      .default(''),
    'error.suffix': field
      .text({
        doc: 'With finished.policy=mark and delete: suffix that is appended to the name of a file that cannot be read to the end.',
        nonEmpty: true,
      })
      .default('.failed'),
    'file.minimum.age.ms': field
      .long({ doc: 'Time without changes after which a file is considered complete, in ms.', min: 0 })
      .default(5000),
    'ready.suffix': field
      .text({
        doc: 'If set, a file is considered complete when a file with its name and this suffix exists. That file is deleted afterwards.',
      })
      .default(''),
    'ignored.suffixes': field
      .list({ doc: 'Suffixes of the names of files to ignore.' })
      .prefault('.tmp,.part,.partial,.swp'),
    'order.by': field.oneOf(['name', 'time'], { doc: 'Order in which files are read.' }).default('name'),
    'poll.interval.ms': field.int({ doc: 'Interval at which the directory is listed, in ms.', min: 1 }).default(1000),
    'batch.size': field.int({ doc: 'Maximum number of records in a batch.', importance: 'LOW', min: 1 }).default(1000),
    'row.max.bytes': field
      .int({
        doc: 'Maximum size of a row, which is held in memory. A longer row is malformed.',
        importance: 'LOW',
        min: 1,
      })
      .default(1_000_000),
    'key.field': field
      .text({ doc: 'Field of CSV and JSON values whose value becomes the key of the record. Empty: no key.' })
      .default(''),
    'csv.separator': field.text({ doc: 'Character that separates fields.', isVerbatim: true }).length(1).default(','),
    'csv.quote': field
      .text({ doc: 'Character that encloses fields with separators or line ends.' })
      .length(1)
      .default('"'),
    'csv.escape': field.text({ doc: 'Character that escapes a quote within a field.' }).length(1).default('"'),
    'csv.header': field
      .boolean({ doc: 'Whether the first row contains the column names. If not, set csv.columns.' })
      .default(true),
    'csv.columns': field.list({ doc: 'With csv.header=false: names of the columns.' }).default([]),
    'csv.types': field
      .parsed(
        field.list({
          doc: `Types of columns as COLUMN:TYPE, with TYPE one of ${Object.keys(CSV_TYPES).join(', ')}. Other columns are strings. Empty fields are null, except in string columns.`,
        }),
        parseTypes,
      )
      .prefault(''),
    'schema.name': field.text({ doc: 'Name of the schema of CSV values.', importance: 'LOW' }).default('row'),
  })
  .superRefine((settings, context) => {
    for (const { key, message } of problemsOf(settings)) field.addProblem(context, key, message)
  })

type Config = z.infer<typeof config>
type Context = SourceContext<Config>

/** Reads the rows of files in a directory. */
export const directorySource = defineSource({
  class: 'DirectorySource',
  version: SHIPPED_VERSION,
  summary:
    'Reads files from a directory and writes their rows: CSV, JSON lines or text, optionally compressed with gzip.',
  notes: `
**Each row of a complete file is written at least once, in the order of the file. A file is moved, renamed or deleted after all of its
rows are stored in Kafka.** After a crash, reading continues after the last row whose offset was committed: the offset of
\`{"directory": D, "file": NAME}\` has the byte (\`position\`; in a gzip file, of the uncompressed content) and, as \`bytes\` and \`modified\`,
the version of the file. A file that changes after reading began is read again from the beginning.

Malformed rows (invalid CSV or JSON, a different number of fields, a field that does not have its type, longer than \`row.max.bytes\`) are
handled according to \`errors.tolerance\`. So is a damaged gzip file, whose rows before the damage are written. A quote that is never
closed affects its own line only. Files are read as UTF-8; invalid bytes become U+FFFD.

A symbolic link is read if its target is in the same directory; other links are ignored. A mounted ConfigMap
or Secret is read this way with \`finished.policy=keep\`: an update of the volume is a new version of its files, which are read again from
the beginning. Entries whose names begin with \`..\` belong to the kubelet and are ignored.

Several tasks divide the files of the directory by name; files are in order within a task. All workers must see the same directory.
`,
  config,
  tasks: (_config, tasksMax, raw) =>
    Array.from({ length: tasksMax }, () => ({ ...raw, [TASKS_KEY]: String(tasksMax) })),
  async *poll(context) {
    const { config: settings, signal, onStored } = context
    const inputDirectory = new InputDirectory(inputDirectoryOptions(context))
    await inputDirectory.open()
    const tracker = new FileTracker(inputDirectory)
    onStored((batch) => tracker.markStored(batch))
    while (!signal.aborted) {
      const files = tracker.unread(await inputDirectory.list(Date.now()))
      for (const file of files) {
        if (signal.aborted) return
        yield* readFile(file, context, tracker)
      }
      yield []
      await tracker.cleanUpCompleted()
      if (files.length === 0)
        await sleep(tracker.isBusy ? 50 : settings['poll.interval.ms'], undefined, { signal }).catch(() => {})
    }
  },
  alterOffsets(_config, offsets) {
    for (const { offset } of offsets) if (offset !== null) startPosition(offset)
  },
})

/**
 * Yields the rows of a file in batches. The last batch is empty: its offset is stored after rejected rows were written
 * to the dead letter queue.
 */
async function* readFile(
  file: InputFile,
  context: Context,
  tracker: FileTracker,
): AsyncGenerator<readonly SourceRecord[]> {
  const { config: settings, signal, resumeFrom, log } = context
  const sourcePartition = { directory: settings['input.path'], file: file.name }
  const stored = resumeFrom(sourcePartition)
  const isSame = stored?.['bytes'] === file.bytes && stored['modified'] === file.modifiedMs
  const position = isSame ? startPosition(stored) : 0
  log.info({ file: file.path, position }, 'reading a file')
  tracker.begin(file)
  let at = position
  try {
    const format = await formatOf(file, context)
    for await (const rows of format === undefined ? [] : readRows(rowsOptions(file, context, position))) {
      const body = at === 0 ? withoutHeader(rows, settings, kindOf(file, settings)) : rows
      at = rows.at(-1)!.position
      for (const batch of toBatches(body, settings['batch.size'])) {
        if (signal.aborted) return
        const records = toRecords(batch, { file, format: format!, sourcePartition, context })
        tracker.addBatch(file, records)
        yield records
      }
    }
  } catch (error) {
    rejectRest(file, error, { context, sourcePartition, at })
    tracker.endReading(file, 'failed')
    yield []
    return
  }
  tracker.endReading(file, 'finished')
  yield []
}

type RecordParts = {
  readonly file: InputFile
  readonly format: RowFormat
  readonly sourcePartition: Position
  readonly context: Context
}

function toRecords(rows: readonly TextRow[], { file, format, sourcePartition, context }: RecordParts): SourceRecord[] {
  const { topic, 'key.field': keyField, 'row.max.bytes': rowBytesMax, 'csv.quote': quote } = context.config
  const keySchema = format.schema?.fields?.find(({ name }) => name === keyField)?.schema ?? null
  return [...parseRows(rows, format, { quote, rowBytesMax })].flatMap(({ row, parsed }) => {
    const sourceOffset = { position: row.position, bytes: file.bytes, modified: file.modifiedMs }
    if ('error' in parsed) {
      const { error: cause } = parsed
      const error = new DataError(`'${file.path}' up to byte ${row.position}: ${cause.message}`, { cause })
      context.reject({ topic, value: row.text, valueSchema: STRING, sourcePartition, sourceOffset }, error)
      return []
    }
    const { value } = parsed
    const key = keyField === '' ? null : keyOf(value, keyField)
    return [
      {
        topic,
        key,
        keySchema: key === null ? null : keySchema,
        value,
        valueSchema: format.schema,
        sourcePartition,
        sourceOffset,
      },
    ]
  })
}

function keyOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? ((value as Record<string, unknown>)[name] ?? null) : null
}

/** Rejects the rest of a damaged file. Rethrows errors that are not about the content of the file. */
function rejectRest(
  file: InputFile,
  error: unknown,
  { context, sourcePartition, at }: Pick<RecordParts, 'context' | 'sourcePartition'> & { readonly at: number },
): void {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') {
    context.log.warn({ file: file.path }, 'a file that was listed no longer exists')
    return
  }
  if (code?.startsWith('E')) {
    throw new Error(`cannot read '${file.path}': ${message}; correct this, then restart the task`, { cause: error })
  }
  if (!/^(Z_|CSV_|data$)/.test(code ?? '')) throw error
  const sourceOffset = { position: at, bytes: file.bytes, modified: file.modifiedMs }
  const value = `the rest of ${file.path}`
  const failure = new DataError(`'${file.path}' cannot be read after byte ${at} of its content: ${message}`, {
    cause: error,
  })
  context.reject({ topic: context.config.topic, value, valueSchema: STRING, sourcePartition, sourceOffset }, failure)
}

type Kind = Exclude<Config['format'], 'auto'>

function kindOf({ name }: InputFile, { format }: Config): Kind {
  if (format !== 'auto') return format
  const [, extension = ''] = /\.(\w+)$/.exec(name.replace(/\.gz$/i, '')) ?? []
  if (/^csv$/i.test(extension)) return 'csv'
  return /^(ndjson|jsonl|json)$/i.test(extension) ? 'ndjson' : 'text'
}

/** Returns undefined for a CSV file without a header row. */
async function formatOf(file: InputFile, context: Context): Promise<RowFormat | undefined> {
  const { config: settings } = context
  const kind = kindOf(file, settings)
  if (kind !== 'csv') return kind === 'text' ? TEXT : NDJSON
  const options = {
    separator: settings['csv.separator'],
    quote: settings['csv.quote'],
    escape: settings['csv.escape'],
    types: settings['csv.types'],
    name: settings['schema.name'],
  }
  if (!settings['csv.header']) return csv({ ...options, columns: settings['csv.columns'] })
  for await (const [firstRow] of readRows(rowsOptions(file, context, 0))) {
    const columns = csvFields(withoutByteOrderMark(firstRow!.text), options)
    rejectDuplicates(file.path, columns)
    const unknown = [...options.types.keys()].filter((column) => !columns.includes(column))
    if (unknown.length === 0) return csv({ ...options, columns })
    throw new DataError(
      `'${file.path}' has no column ${unknown.join(', ')} (csv.types); its columns are ${columns.join(', ')}`,
    )
  }
  return undefined
}

/** A record has one field of each name, so the values of the other columns would be lost. */
function rejectDuplicates(path: string, columns: readonly string[]): void {
  const column = columns.find((one, index) => columns.indexOf(one) < index)
  if (column === undefined) return
  throw new DataError(`'${path}' has several columns '${column}': rename them, or set csv.header=false and csv.columns`)
}

/** The first rows of a file without the header row and the byte order mark. */
function withoutHeader([first, ...rows]: readonly TextRow[], settings: Config, kind: Kind): readonly TextRow[] {
  if (kind === 'csv' && settings['csv.header']) return rows
  return [{ ...first!, text: withoutByteOrderMark(first!.text) }, ...rows]
}

function withoutByteOrderMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}

function rowsOptions(file: InputFile, { config: settings, files }: Context, position: number) {
  const quote = kindOf(file, settings) === 'csv' ? settings['csv.quote'] : undefined
  const isGzip = /\.gz$/i.test(file.name)
  const open = () => openInputFile(file, settings['input.path'], files)
  return { open, isGzip, position, quote, rowBytesMax: settings['row.max.bytes'] }
}

function* toBatches(rows: readonly TextRow[], size: number): Generator<readonly TextRow[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

function inputDirectoryOptions({ config: settings, raw, task, log, files }: Context) {
  const tasks = Number(raw[TASKS_KEY] ?? 1)
  return {
    directory: settings['input.path'],
    pattern: javaRegex(settings['input.file.pattern'], { whole: true }),
    ignoredSuffixes: settings['ignored.suffixes'],
    readySuffix: settings['ready.suffix'],
    ageMs: settings['file.minimum.age.ms'],
    orderBy: settings['order.by'],
    isAssigned: (name: string) => hash(name) % tasks === task,
    cleanup: cleanupPolicyOf(settings),
    files,
    log,
  }
}

function cleanupPolicyOf(settings: Config): CleanupPolicy {
  const how = settings['finished.policy']
  if (how === 'keep') return { do: how }
  if (how === 'delete') return { do: how, failed: settings['error.suffix'] }
  if (how === 'mark') return { do: how, finished: settings['finished.suffix'], failed: settings['error.suffix'] }
  return {
    do: how,
    finished: settings['finished.path'],
    failed: settings['error.path'] || join(settings['finished.path'], 'failed'),
  }
}

function hash(text: string): number {
  let sum = 0
  for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0
  return sum >>> 0
}

function startPosition(offset: Position | undefined): number {
  const position = offset?.['position'] ?? 0
  if (Number.isSafeInteger(position) && (position as number) >= 0) return position as number
  throw new Error(`'position' of an offset must be a non-negative integer, not ${plainJson(position)}`)
}

function parseTypes(items: readonly string[]): ReadonlyMap<string, CsvType> {
  return new Map(
    items.map((item) => {
      const [, column = '', type = ''] = /^(.+):\s*(\w+)$/.exec(item) ?? []
      if (Object.hasOwn(CSV_TYPES, type)) return [column.trim(), type as CsvType]
      const types = Object.keys(CSV_TYPES).join(', ')
      throw new Error(`Invalid value ${item} for configuration csv.types: expected COLUMN:TYPE with one of ${types}`)
    }),
  )
}

function problemsOf(settings: Config): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (settings['finished.policy'] === 'move' && settings['finished.path'] === '') {
    problems.push({ key: 'finished.path', message: 'finished.policy=move requires finished.path' })
  }
  if (!settings['csv.header'] && settings.format === 'csv' && settings['csv.columns'].length === 0) {
    problems.push({ key: 'csv.columns', message: 'csv.header=false requires csv.columns' })
  }
  if (new Set(settings['csv.columns']).size < settings['csv.columns'].length) {
    problems.push({ key: 'csv.columns', message: 'csv.columns contains a name several times' })
  }
  return problems
}
