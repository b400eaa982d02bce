import { singleBatch } from '../../../../src/broker/record-batch/batch-header.ts'
import { recordsOf } from '../../../../src/broker/record-batch/record-batch.ts'
import type { StoredBatch } from '../../simulated-broker.ts'
import { promise } from '../../world.ts'
import { dekKey, type KekModelState, NO_KEK } from './key-model.ts'
import { contentOf, FIRST_IMPORTED, FRESH_CONTENTS, type Level, type Mode } from './registry-request.ts'
import { EMPTY_SUBJECT, type SubjectModelState } from './subject-model.ts'

/** A record of a topic of the registry, read without its code. */
export type LogRecord = {
  readonly offset: number
  /** The first offset of its batch. */
  readonly batch: number
  readonly atMs: number
  readonly key: Readonly<Record<string, unknown>>
  readonly value: Readonly<Record<string, unknown>> | null
}

/** The states of a subject or of a KEK, each from the offset of a record on. */
export type StateHistory<State> = readonly {
  readonly fromOffset: number
  readonly record?: LogRecord
  readonly state: State
}[]

/** All records that were ever stored, in their order, also those that compaction has removed since. */
export async function readRecords(batches: readonly StoredBatch[], topic: string): Promise<readonly LogRecord[]> {
  const records = new Map<number, LogRecord>()
  for (const batch of batches) {
    if (batch.topic !== topic) continue
    const stored = await recordsOf(singleBatch(batch.bytes))
    for (const [at, { key, value }] of stored.entries()) {
      const offset = batch.baseOffset + at
      // A repeated request is answered with the offset of the first one.
      if (!records.has(offset))
        records.set(offset, {
          offset,
          batch: batch.baseOffset,
          atMs: batch.atMs,
          key: parsed(key) ?? {},
          value: parsed(value),
        })
    }
  }
  return [...records.values()].sort((one, other) => one.offset - other.offset)
}

function parsed(bytes: Buffer | null): Record<string, unknown> | null {
  return bytes === null || bytes.length === 0 ? null : (JSON.parse(String(bytes)) as Record<string, unknown>)
}

/** What the records say about a subject. */
export function subjectHistory(records: readonly LogRecord[], subject: string): StateHistory<SubjectModelState> {
  const history: { fromOffset: number; record?: LogRecord; state: SubjectModelState }[] = [
    { fromOffset: -1, state: EMPTY_SUBJECT },
  ]
  for (const record of records) {
    if (record.key['subject'] !== subject) continue
    history.push({ fromOffset: record.offset, record, state: applyToSubject(history.at(-1)!.state, record) })
  }
  return history
}

function applyToSubject(state: SubjectModelState, { key, value }: LogRecord): SubjectModelState {
  const { versions } = state
  switch (key['keytype']) {
    case 'SCHEMA': {
      const version = Number(key['version'])
      const others = versions.filter((one) => one.version !== version)
      if (value === null) return { ...state, versions: others }
      const put = { version, content: contentOf(String(value['schema'])) ?? -1, deleted: value['deleted'] === true }
      return { ...state, versions: [...others, put].sort((one, other) => one.version - other.version) }
    }
    case 'DELETE_SUBJECT': {
      const upTo = Number(value?.['version'] ?? 0)
      return { ...state, versions: versions.map((one) => (one.version <= upTo ? { ...one, deleted: true } : one)) }
    }
    case 'CLEAR_SUBJECT':
      return { ...state, versions: versions.filter(({ deleted }) => !deleted) }
    case 'CONFIG':
      return { ...state, level: value?.['compatibilityLevel'] as Level | undefined }
    case 'MODE':
      return { ...state, mode: value?.['mode'] as Mode | undefined }
    default:
      return state
  }
}

/** What the records say about a KEK and its DEKs. */
export function kekHistory(records: readonly LogRecord[], kek: string): StateHistory<KekModelState> {
  const history: { fromOffset: number; record?: LogRecord; state: KekModelState }[] = [
    { fromOffset: -1, state: NO_KEK },
  ]
  for (const record of records) {
    const { key, value } = record
    if (key['name'] !== kek && key['kekName'] !== kek) continue
    const { state } = history.at(-1)!
    const deleted = value?.['deleted'] === true
    if (key['type'] === 'KEK') {
      history.push({
        fromOffset: record.offset,
        record,
        state: { ...state, kek: value === null ? undefined : { deleted } },
      })
      continue
    }
    const name = dekKey({ subject: String(key['subject']), version: Number(key['version']) })
    const { [name]: _, ...others } = state.deks
    const deks =
      value === null ? others : { ...others, [name]: { material: String(value['encryptedKeyMaterial']), deleted } }
    history.push({ fromOffset: record.offset, record, state: { ...state, deks } })
  }
  return history
}

/**
 * Checks what holds for all records of `_schemas`: an ID has one schema for ever, the versions of a subject are dense, and a deleted version stays
 * deleted.
 */
export function checkSchemas(records: readonly LogRecord[], subjects: readonly string[]): void {
  /** By context and ID. */
  const contents = new Map<string, { readonly content: number; readonly offset: number }>()
  for (const { offset, key, value } of records) {
    if (key['keytype'] !== 'SCHEMA' || value === null) continue
    const id = Number(value['id'])
    const content = contentOf(String(value['schema']))
    promise(content !== undefined, () => `offset ${offset} has a schema that nobody sent`)
    const context = /^:(.*):/.exec(String(key['subject']))?.[1] ?? '.'
    const before = contents.get(`${context} ${id}`)
    promise(
      before === undefined || before.content === content,
      () =>
        `ID ${id} of context ${context} was assigned to content ${before!.content} at offset ${before!.offset}, and to content ${content} at offset ${offset}`,
    )
    contents.set(`${context} ${id}`, { content: content!, offset: before?.offset ?? offset })
  }
  for (const subject of subjects) checkVersions(subjectHistory(records, subject), subject)
}

function checkVersions(history: StateHistory<SubjectModelState>, subject: string): void {
  for (const [at, { record, state }] of history.entries()) {
    if (record === undefined || record.key['keytype'] !== 'SCHEMA' || record.value === null) continue
    const { state: beforeBatch } = history.findLast(
      ({ fromOffset }, earlier) => earlier < at && fromOffset < record.batch,
    )!
    const before = beforeBatch.versions
    const version = Number(record.key['version'])
    const old = before.find((one) => one.version === version)
    const put = state.versions.find((one) => one.version === version)!
    if (put.content >= FIRST_IMPORTED && put.content < FRESH_CONTENTS[0]) continue
    const next = (before.at(-1)?.version ?? 0) + 1
    const place = `offset ${record.offset}, version ${version} of ${subject}`
    promise(old !== undefined || version === next, () => `${place}: the next version is ${next}`)
    promise(old === undefined || put.deleted, () => `${place}: the version existed and is written again`)
    promise(
      old === undefined || old.content === put.content,
      () => `${place}: another schema replaces that of the version`,
    )
  }
}
