import { setTimeout as sleep } from 'node:timers/promises'
import { parseExact, plainValue } from '../../../java-compat/json/reader.ts'
import {
  DataError,
  defineSource,
  field,
  RetriableError,
  type SourceContext,
  type SourceRecord,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import {
  addProblems,
  type Connection,
  connectionFields,
  connectionProblems,
  headerProblems,
  httpUrl,
  openConnection,
  parseHeaders,
} from '../http/connection.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import { adviceOn, classifyStatus, parseStatuses } from '../http/status-class.ts'
import {
  describeRequest,
  NoResponseError,
  ResponseTooLargeError,
  responseExcerpt,
  type TransportResponse,
} from '../http/transport.ts'
import { advancePage, type PagePosition, type PagesOptions, type Paging, pageUrl, parsePagePosition } from './paging.ts'
import { follow, parsePointer } from './pointer.ts'

const HEADERS = 'http.request.headers'

const pointer = (key: string, doc: string) =>
  field.parsed(field.text({ doc }), (text) => {
    try {
      return parsePointer(text)
    } catch (error) {
      throw new Error(`Invalid value ${text} for configuration ${key}: ${(error as Error).message}`)
    }
  })

const config = z
  .object({
    topic: field.text({ doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    url: httpUrl({ doc: 'URL that returns JSON, with its constant parameters.', importance: 'HIGH' }),
    [HEADERS]: field.text({ doc: 'Headers of every request, NAME:VALUE, separated by |.' }).default(''),
    'poll.interval.ms': field
      .int({ doc: 'Pause between two rounds, in ms. A round requests all pages.', importance: 'HIGH', min: 1 })
      .default(60_000),
    'records.pointer': pointer(
      'records.pointer',
      'JSON pointer to the list of records. Empty: the whole response.',
    ).prefault(''),
    'key.pointer': pointer('key.pointer', 'JSON pointer in a record to its key. Default: no key.').optional(),
    'timestamp.pointer': pointer(
      'timestamp.pointer',
      'JSON pointer in a record to its timestamp: ms since 1970, or ISO 8601. Default: the time of writing.',
    ).optional(),
    paging: field
      .oneOf(['none', 'link', 'cursor', 'offset', 'page'], {
        doc: 'How the next page is found: by the header Link, by a cursor or URL in the response, by counting records (offset) or pages (page).',
        importance: 'HIGH',
      })
      .default('none'),
    'cursor.pointer': pointer(
      'cursor.pointer',
      'With paging=cursor: JSON pointer in the response to the cursor.',
    ).prefault('/next'),
    'cursor.parameter': field.text({ doc: 'With paging=cursor: request parameter for the cursor.' }).default('cursor'),
    'offset.parameter': field
      .text({ doc: 'With paging=offset: request parameter for the number of records to skip.' })
      .default('offset'),
    'offset.first': field
      .int({ doc: 'With paging=offset: number of records that the first request skips.', min: 0 })
      .default(0),
    'page.parameter': field
      .text({ doc: 'With paging=page: request parameter for the number of the page.' })
      .default('page'),
    'page.first': field.int({ doc: 'With paging=page: number of the first page.', min: 0 }).default(1),
    'since.parameter': field
      .text({
        doc: 'Request parameter that limits a round to new records; used after the first round. Empty: every round requests all records.',
      })
      .default(''),
    'since.pointer': pointer('since.pointer', 'JSON pointer in a record to the value for since.parameter.').prefault(
      '/updated_at',
    ),
    'since.initial': field
      .text({ doc: 'Value of since.parameter in the first round. Empty: the first round requests all records.' })
      .default(''),
    'response.max.bytes': field
      .int({ doc: 'Maximum size of a response, which is held in memory. A larger response fails the task.', min: 1 })
      .default(16_000_000),
    'retry.on.status.codes': field
      .parsed(field.text({ doc: 'Statuses and ranges of statuses that are retried.' }), parseStatuses)
      .prefault('408,425,429,500-'),
    ...connectionFields,
  })
  .superRefine((settings, context) =>
    addProblems([...connectionProblems(settings), ...headerProblems(HEADERS, headerTexts(settings))], context),
  )

type Config = z.infer<typeof config>
type Context = SourceContext<Config>

/** Polls a JSON API and writes the records that it returns. */
export const httpSource = defineSource({
  class: 'HttpSource',
  version: SHIPPED_VERSION,
  summary: 'Polls an HTTP server for JSON, page by page, and writes the records in it.',
  notes: `
**Each record of a page that the server returned is written at least once, in the order of the pages.** The offset of \`{"url": URL}\` has
the page, how many of its records are written (\`taken\`), and the value of \`since.parameter\` in this round. After a crash the page is
requested again and reading continues in it. If the pages of the server change meanwhile, records may be counted wrongly; use
\`since.parameter\` or a cursor for such servers.

What a round requests: with \`since.parameter\`, the records since the highest mark that was seen (the record with that mark may be read
again); with \`offset\` and \`page\`, the records after the last one; with a cursor, the records after it, if the last page still had one;
otherwise all records. When there is no response, and for the statuses in \`retry.on.status.codes\`, the request is retried without a limit,
after a growing delay or after the \`Retry-After\` of the server. Other statuses, and responses without what \`records.pointer\` selects, fail
the task. Pages on another server are not followed.
`,
  config,
  async *poll(context) {
    const { config: written, signal, resumeFrom } = context
    const limits = { responseBytesMax: written['response.max.bytes'], whenLonger: 'refuse' } as const
    const connection = await openConnection(written, limits, context)
    using closing = new DisposableStack()
    closing.defer(() => connection.close())
    const options = pagesOptions(written)
    let place = parsePagePosition(resumeFrom({ url: written.url }))
    let last: PagePosition | undefined
    while (!signal.aborted) {
      const answer = await ask(pageUrl(options, place), connection, context)
      const records = recordsIn(answer.body, written)
      const { places, after, isOver } = advancePage(options, place, last, { ...answer, records })
      last = places.at(-1) ?? last
      yield records.slice(place.taken).map((record, index) => toRecord(record, places[place.taken + index]!, written))
      place = after
      if (isOver) await sleep(written['poll.interval.ms'], undefined, { signal }).catch(() => {})
    }
  },
  alterOffsets(_config, offsets) {
    for (const { offset } of offsets) if (offset !== null) parsePagePosition(offset)
  },
})

async function ask(address: string, connection: Connection, { config: written, signal }: Context) {
  const headers = Object.fromEntries([['accept', 'application/json'], ...parseHeaders(headerTexts(written))])
  const call = { method: 'GET', url: address, headers, signal }
  const answer = await connection.send(call).catch((error: unknown) => {
    if (error instanceof NoResponseError) throw new RetriableError(error.message, { cause: error })
    if (error instanceof ResponseTooLargeError) {
      throw new Error(`${error.message}: ask for smaller pages or raise response.max.bytes`, { cause: error })
    }
    throw error
  })
  const { status } = answer
  switch (classifyStatus(status, written['retry.on.status.codes'])) {
    case 'success':
      return { body: parse(answer, describeRequest(call)), link: [answer.headers['link'] ?? []].flat().join(', ') }
    case 'retriable': {
      const waitMs = retryAfterMs(answer.headers, Date.now())
      const message = `${describeRequest(call)}: the server answered ${status}${responseExcerpt(answer)}`
      throw new RetriableError(message, waitMs === undefined ? {} : { retryAfterMs: waitMs })
    }
    case 'fatal':
      throw new Error(
        `${describeRequest(call)}: the server answered ${status}: ${adviceOn(status, answer.headers.location)}`,
      )
    case 'rejected':
      throw new Error(
        `${describeRequest(call)}: the server answered ${status}${responseExcerpt(answer)}: check url and its parameters`,
      )
  }
}

function parse(answer: TransportResponse, place: string): unknown {
  const text = answer.body.toString()
  if (text.trim() === '') return []
  try {
    return plainValue(parseExact(text))
  } catch (error) {
    throw new DataError(`${place}: the answer is no JSON${responseExcerpt(answer)}`, { cause: error })
  }
}

function recordsIn(body: unknown, written: Config): readonly unknown[] {
  const found = follow(body, written['records.pointer'])
  if (Array.isArray(found)) return found
  if (typeof found === 'object' && found !== null) return [found]
  const members = typeof body === 'object' && body !== null ? Object.keys(body).slice(0, 20).join(', ') : typeof body
  throw new DataError(
    `the answer of ${new URL(written.url).origin} has no list at '/${written['records.pointer'].join('/')}' ` +
      `(records.pointer); it has: ${members}`,
  )
}

function toRecord(value: unknown, sourceOffset: PagePosition, written: Config): SourceRecord {
  const { topic, url, 'key.pointer': keyPointer, 'timestamp.pointer': timePointer } = written
  return {
    topic,
    key: keyPointer === undefined ? null : (follow(value, keyPointer) ?? null),
    value,
    timestampMs: timePointer === undefined ? null : timeOf(follow(value, timePointer)),
    sourcePartition: { url },
    sourceOffset,
  }
}

function timeOf(found: unknown): number | null {
  const timeMs = typeof found === 'string' ? Date.parse(found) : found
  return typeof timeMs === 'number' && timeMs >= 0 ? Math.trunc(timeMs) : null
}

function pagesOptions(written: Config): PagesOptions {
  const { 'since.parameter': parameter, 'since.pointer': at, 'since.initial': initial } = written
  return {
    url: written.url,
    paging: pagingOf(written),
    since: parameter === '' ? undefined : { parameter, pointer: at, initial },
  }
}

function pagingOf(written: Config): Paging {
  const { paging: by } = written
  if (by === 'cursor') return { by, parameter: written['cursor.parameter'], pointer: written['cursor.pointer'] }
  if (by === 'offset') return { by, parameter: written['offset.parameter'], first: written['offset.first'] }
  if (by === 'page') return { by, parameter: written['page.parameter'], first: written['page.first'] }
  return { by }
}

function headerTexts(written: Config): readonly string[] {
  return written[HEADERS].split('|')
}
