import { setTimeout as sleep } from 'node:timers/promises'
import { parseExact, plainValue } from '../../../java-compat/json/connect-json-reader.ts'
import {
  DataError,
  defineSource,
  field,
  RetriableError,
  type SourceContext,
  type SourceRecord,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
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
import { adviceOn, classifyStatus, parseStatuses, RETRIED_STATUSES } from '../http/retriable-status.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import {
  describeRequest,
  NoResponseError,
  ResponseTooLargeError,
  responseExcerpt,
  type TransportResponse,
} from '../http/transport.ts'
import { follow, parsePointer } from './json-pointer.ts'
import {
  advancePage,
  PageCycle,
  type PagePosition,
  type PagesOptions,
  type Paging,
  pageUrl,
  parsePagePosition,
} from './paging.ts'

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
    topic: field.text({ reaches: 'written topic', doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    url: httpUrl({ doc: 'URL that returns JSON, including constant query parameters.', importance: 'HIGH' }),
    [HEADERS]: field.text({ doc: 'Headers of every request as NAME:VALUE, separated by |.' }).default(''),
    'poll.interval.ms': field
      .int({ doc: 'Delay between two rounds, in ms. A round requests all pages.', importance: 'HIGH', min: 1 })
      .default(60_000),
    'records.pointer': pointer(
      'records.pointer',
      'JSON pointer to the array of records in the response. Empty: the whole response.',
    ).prefault(''),
    'key.pointer': pointer('key.pointer', 'JSON pointer to the key in a record. Default: no key.').optional(),
    'timestamp.pointer': pointer(
      'timestamp.pointer',
      'JSON pointer to the timestamp in a record: ms since 1970, or ISO 8601. Default: the time at which the record is written.',
    ).optional(),
    paging: field
      .oneOf(['none', 'link', 'cursor', 'offset', 'page'], {
        doc: 'How the next page is determined: by the header Link, by a cursor or URL in the response, or by counting records (offset) or pages (page).',
        importance: 'HIGH',
      })
      .default('none'),
    'cursor.pointer': pointer(
      'cursor.pointer',
      'With paging=cursor: JSON pointer to the cursor in the response.',
    ).prefault('/next'),
    'cursor.parameter': field.text({ doc: 'With paging=cursor: query parameter for the cursor.' }).default('cursor'),
    'offset.parameter': field
      .text({ doc: 'With paging=offset: query parameter for the number of records to skip.' })
      .default('offset'),
    'offset.first': field
      .int({ doc: 'With paging=offset: number of records that the first request skips.', min: 0 })
      .default(0),
    'page.parameter': field.text({ doc: 'With paging=page: query parameter for the page number.' }).default('page'),
    'page.first': field.int({ doc: 'With paging=page: number of the first page.', min: 0 }).default(1),
    'since.parameter': field
      .text({
        doc: 'Query parameter that limits a round to new records; used after the first round. Empty: every round requests all records.',
      })
      .default(''),
    'since.pointer': pointer('since.pointer', 'JSON pointer to the value for since.parameter in a record.').prefault(
      '/updated_at',
    ),
    'since.initial': field
      .text({ doc: 'Value of since.parameter in the first round. Empty: the first round requests all records.' })
      .default(''),
    'response.max.bytes': field
      .int({
        doc: 'Maximum size of a response in bytes. Responses are buffered in memory. A larger response fails the task.',
        min: 1,
      })
      .default(16_000_000),
    'retry.on.status.codes': field
      .parsed(
        field.text({ doc: 'Response statuses and ranges of statuses for which a request is retried.' }),
        parseStatuses,
      )
      .prefault(RETRIED_STATUSES),
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
  summary: 'Polls an HTTP server for JSON, page by page, and writes the records that it returns.',
  notes: `
**Each record of a page that the server returned is written at least once, in the order of the pages.** The offset of \`{"url": URL}\`
contains the page, the number of its records that are written (\`taken\`), and the value of \`since.parameter\` in this round. After a crash the page is
requested again and reading continues in it. If the content of the pages changes in the meantime, records may be skipped or repeated; use
\`since.parameter\` or a cursor for such servers.

A round requests: with \`since.parameter\`, the records since the highest value so far (a record with that value may be read again); with
\`offset\` and \`page\`, the records after the last one; with a cursor, the records after the last cursor, if there was one; otherwise all
records. When there is no response, and for the statuses in \`retry.on.status.codes\`, the request is retried without a limit,
after a growing delay or after the delay in the \`Retry-After\` header. The task fails for other statuses, for responses without the
element at \`records.pointer\`, for links to another server, and if a page by \`offset\` or \`page\` has the same records as the one before it. A round ends when a page leads back to an earlier one, such as from the
last page to the first. Values of \`since.parameter\` are compared as numbers if they are decimal numbers, also in strings, otherwise as texts.
`,
  config,
  async *poll(context) {
    const { config: settings, signal, resumeFrom } = context
    const limits = { responseBytesMax: settings['response.max.bytes'], whenLonger: 'refuse' } as const
    const connection = await openConnection(settings, limits, context)
    using closing = new DisposableStack()
    closing.defer(() => connection.close())
    const options = pagesOptions(settings)
    let position = parsePagePosition(resumeFrom({ url: settings.url }))
    let last: PagePosition | undefined
    let cycle = new PageCycle(pageUrl(options, position))
    while (!signal.aborted) {
      const response = await requestPage(pageUrl(options, position), connection, context)
      const records = recordsIn(response.body, settings)
      const { positions, after, isOver } = advancePage(options, position, last, { ...response, records, cycle })
      last = positions.at(-1) ?? last
      yield records
        .slice(position.taken)
        .map((record, index) => toRecord(record, positions[position.taken + index]!, settings))
      position = after
      if (!isOver) continue
      cycle = new PageCycle(pageUrl(options, position))
      await sleep(settings['poll.interval.ms'], undefined, { signal }).catch(() => {})
    }
  },
  alterOffsets(_config, offsets) {
    for (const { offset } of offsets) if (offset !== null) parsePagePosition(offset)
  },
})

async function requestPage(address: string, connection: Connection, { config: settings, signal }: Context) {
  const headers = Object.fromEntries([['accept', 'application/json'], ...parseHeaders(headerTexts(settings))])
  const request = { method: 'GET', url: address, headers, signal }
  const response = await connection.send(request).catch((error: unknown) => {
    if (error instanceof NoResponseError) throw new RetriableError(error.message, { cause: error })
    if (error instanceof ResponseTooLargeError) {
      throw new Error(`${error.message}: request smaller pages or increase response.max.bytes`, { cause: error })
    }
    throw error
  })
  const { status } = response
  switch (classifyStatus(status, settings['retry.on.status.codes'])) {
    case 'success':
      return {
        body: parse(response, describeRequest(request)),
        link: [response.headers['link'] ?? []].flat().join(', '),
      }
    case 'retriable': {
      const waitMs = retryAfterMs(response.headers, Date.now())
      const message = `${describeRequest(request)}: the server responded with ${status}${responseExcerpt(response)}`
      throw new RetriableError(message, waitMs === undefined ? {} : { retryAfterMs: waitMs })
    }
    case 'fatal':
      throw new Error(
        `${describeRequest(request)}: the server responded with ${status}: ${adviceOn(status, response.headers.location)}`,
      )
    case 'rejected':
      throw new Error(
        `${describeRequest(request)}: the server responded with ${status}${responseExcerpt(response)}: check url and its parameters`,
      )
  }
}

function parse(response: TransportResponse, request: string): unknown {
  const text = response.body.toString()
  if (text.trim() === '') return []
  try {
    return plainValue(parseExact(text))
  } catch (error) {
    throw new DataError(`${request}: the response is not JSON${responseExcerpt(response)}`, { cause: error })
  }
}

function recordsIn(body: unknown, settings: Config): readonly unknown[] {
  const found = follow(body, settings['records.pointer'])
  if (Array.isArray(found)) return found
  // Some servers write an empty list as null.
  if (found === null) return []
  if (typeof found === 'object' && found !== null) return [found]
  const members = typeof body === 'object' && body !== null ? Object.keys(body).slice(0, 20).join(', ') : typeof body
  throw new DataError(
    `the response of ${new URL(settings.url).origin} has no array at '/${settings['records.pointer'].join('/')}' ` +
      `(records.pointer); its members are ${members}`,
  )
}

function toRecord(value: unknown, sourceOffset: PagePosition, settings: Config): SourceRecord {
  const { topic, url, 'key.pointer': keyPointer, 'timestamp.pointer': timePointer } = settings
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

function pagesOptions(settings: Config): PagesOptions {
  const { 'since.parameter': parameter, 'since.pointer': at, 'since.initial': initial } = settings
  return {
    url: settings.url,
    paging: pagingOf(settings),
    since: parameter === '' ? undefined : { parameter, pointer: at, initial },
  }
}

function pagingOf(settings: Config): Paging {
  const { paging: by } = settings
  if (by === 'cursor') return { by, parameter: settings['cursor.parameter'], pointer: settings['cursor.pointer'] }
  if (by === 'offset') return { by, parameter: settings['offset.parameter'], first: settings['offset.first'] }
  if (by === 'page') return { by, parameter: settings['page.parameter'], first: settings['page.first'] }
  return { by }
}

function headerTexts(settings: Config): readonly string[] {
  return settings[HEADERS].split('|')
}
