import type { Broker, StoredRecord } from '../../broker/broker.ts'
import { BoundedMap, getOrFetch } from '../../clients/bounded-map.ts'
import type { RegistryClient, SchemaUse } from '../../clients/registry-client.ts'
import { messageOf } from '../../common/errors.ts'
import { openRegistry } from '../../plugins/converters/registry-access.ts'
import { registryFields } from '../../plugins/converters/registry-keys.ts'
import { readRecords } from '../../records/read-records.ts'
import { RecordDecoder } from '../../records/record-decoder.ts'
import { recordSize, SCAN_LIMITS, type ScanLimits, scanRecords } from '../../records/scan-records.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import { parseConfig, UNRESTRICTED, z } from '../../sdk/index.ts'
import { serveBrokerThread } from '../isolation/broker-threads.ts'
import { containsText, describeRecord, type RecordPayload, type RecordView, sizeOfView } from './describe-record.ts'
import type { RecordRequest, RecordResponse, RecordThreadData, SampledRecord } from './topic-records.ts'

// Entry point of a thread that reads and decodes records of topics. `topic-records.ts` starts and ends it.

const DECODED_BYTES_MAX = 8 * 1024 * 1024
const TEXT_MAX = 1024 * 1024
const SCHEMAS_MAX = 1_000
/** Several topics are sampled for one request. */
const SAMPLE_LIMITS: ScanLimits = {
  ...SCAN_LIMITS,
  recordsMax: 2_000,
  bytesMax: 8 * 1024 * 1024,
  windowBytesMax: 4 * 1024 * 1024,
  cpuMsMax: 1_000,
  elapsedMsMax: 5_000,
}
/** A larger record is shown, but not passed on. */
const SAMPLE_BYTES_MAX = 256 * 1024
const SAMPLE_TEXT_MAX = 20_000

type Decoding = {
  readonly decoder: RecordDecoder
  readonly registry: RegistryClient | undefined
  readonly versions: BoundedMap<number, Promise<readonly SchemaUse[]>>
}

let opened: Decoding | undefined

/** Where it can be, the response is JSON, so that the thread that serves REST only sends it. */
serveBrokerThread(async (broker: Broker, request: RecordRequest, data: RecordThreadData): Promise<RecordResponse> => {
  opened ??= open(data)
  switch (request.do) {
    case 'scan':
      return scan(broker, request, opened)
    case 'read':
      return read(broker, request, opened)
    case 'sample':
      return sample(broker, request, opened)
  }
})

function open({ registry: settings, maskedTags }: RecordThreadData): Decoding {
  const registry =
    settings === undefined ? undefined : openRegistry(parseConfig(z.object(registryFields), settings), UNRESTRICTED)
  const patterns = maskedTags.map((tag) => tag.toLowerCase())
  const masks = (tags: readonly string[]) =>
    tags.some((tag) => patterns.some((pattern) => matchesWildcard(pattern, tag.toLowerCase())))
  const decoder = new RecordDecoder({
    registry,
    ...(patterns.length > 0 && { masks }),
    bytesMax: DECODED_BYTES_MAX,
    schemasMax: SCHEMAS_MAX,
  })
  return { decoder, registry, versions: new BoundedMap(SCHEMAS_MAX) }
}

async function scan(
  broker: Broker,
  { scan: requested, search, textMax }: Extract<RecordRequest, { do: 'scan' }>,
  decoding: Decoding,
): Promise<string | undefined> {
  const wanted = search?.toLowerCase()
  const result = await scanRecords(broker, requested, async (record, partition) => {
    const decoded = await decoding.decoder.decode(record)
    if (wanted !== undefined && !containsText(decoded, wanted)) return undefined
    const view = describeRecord(partition, record, decoded, textMax)
    return { view, size: sizeOfView(view) }
  })
  if (result === undefined) return undefined
  const { records, positions, ...rest } = result
  const views = records.map(({ view }) => view)
  await addVersions(views, requested.topic, decoding)
  return JSON.stringify({
    ...rest,
    records: views,
    positions: [...positions].map(([partition, offset]) => `${partition}:${offset}`).join(','),
    stoppedBy: rest.stoppedBy ?? null,
  })
}

async function read(
  broker: Broker,
  { topic, partition, offset }: Extract<RecordRequest, { do: 'read' }>,
  decoding: Decoding,
): Promise<string | undefined> {
  const [record] = await Array.fromAsync(readRecords(broker, topic, [{ partition, offset }]))
  if (record === undefined) return undefined
  const view = describeRecord(partition, record, await decoding.decoder.decode(record), TEXT_MAX)
  await addVersions([view], topic, decoding)
  return JSON.stringify(view)
}

async function sample(
  broker: Broker,
  { topic, limit }: Extract<RecordRequest, { do: 'sample' }>,
  decoding: Decoding,
): Promise<readonly SampledRecord[] | undefined> {
  const view = async (record: StoredRecord, partition: number) => {
    const sampled = await sampleRecord(record, partition, decoding)
    return { view: sampled, size: sizeOfView(sampled.view) + recordSize(record) }
  }
  const found = await scanRecords(broker, { topic, from: 'end', limit }, view, SAMPLE_LIMITS)
  if (found === undefined) return undefined
  const sampled = found.records.map((record) => record.view)
  await addVersions(
    sampled.map((one) => one.view),
    topic,
    decoding,
  )
  return sampled
}

async function sampleRecord(record: StoredRecord, partition: number, { decoder }: Decoding): Promise<SampledRecord> {
  const view = describeRecord(partition, record, await decoder.decode(record), SAMPLE_TEXT_MAX)
  if (recordSize(record) > SAMPLE_BYTES_MAX)
    return { view, stored: undefined, problem: `it has more than ${SAMPLE_BYTES_MAX} bytes` }
  try {
    const { offset, timestampMs, key, value, headers } = await decoder.mask(record)
    return { view, stored: { partition, offset, timestampMs, key, value, headers }, problem: null }
  } catch (error) {
    return { view, stored: undefined, problem: messageOf(error) }
  }
}

/** Names the version of each schema: that of the topic's own subject, if it has the schema. What is not known is left out. */
async function addVersions(views: readonly RecordView[], topic: string, decoding: Decoding): Promise<void> {
  await Promise.all(
    views.flatMap(({ key, value }) => [
      addVersion(key, `${topic}-key`, decoding),
      addVersion(value, `${topic}-value`, decoding),
    ]),
  )
}

async function addVersion({ schema }: RecordPayload, subject: string, { registry, versions }: Decoding): Promise<void> {
  if (registry === undefined || typeof schema?.id !== 'number') return
  const { id } = schema
  const found = await getOrFetch(versions, id, () => registry.versionsOfId(id)).catch(() => [])
  const version = found.find((one) => one.subject === subject) ?? found[0]
  if (version) Object.assign(schema, { subject: version.subject, version: version.version })
}
