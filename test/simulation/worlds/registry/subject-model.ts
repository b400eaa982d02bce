import type { SequentialModel } from '../../linearizability.ts'
import { type Level, type Mode, type SubjectRead, type SubjectRequest, shapeOf } from './registry-request.ts'

export type ModelVersion = { readonly version: number; readonly content: number; readonly deleted: boolean }

/** A subject, as its users know it. */
export type SubjectModelState = {
  /** In ascending order. */
  readonly versions: readonly ModelVersion[]
  readonly level?: Level | undefined
  readonly mode?: Mode | undefined
  /**
   * What was registered at any time, `content@version`. An instance that has not read a deletion yet may still answer that the
   * schema is registered, as an instance of Confluent's registry may.
   */
  readonly registered: readonly string[]
}

/** A response: the body of a success, or the code of a rejection. */
export type Outcome = { readonly body: unknown } | { readonly code: number }

export type SubjectModelInput = SubjectRequest | { readonly kind: 'state'; readonly state: SubjectModelState }

const NOT_PERMITTED = 42_205

export const EMPTY_SUBJECT: SubjectModelState = { versions: [], registered: [] }

/** Writes of one subject. */
export const subjectModel: SequentialModel<SubjectModelState, SubjectModelInput, Outcome> = {
  initial: EMPTY_SUBJECT,
  step(state, input, output) {
    if (input.kind === 'state') return subjectText(input.state) === subjectText(state) ? state : undefined
    const { after, answers, codes } = execute(state, input)
    if (output === undefined) return after ?? state
    if ('code' in output) {
      if (codes?.includes(output.code)) return state
      // The ID may be that of another subject's schema.
      return input.kind === 'import' && output.code === NOT_PERMITTED ? state : undefined
    }
    if (answers?.some((answer) => isAnswer(input, answer, output.body))) return after
    return input.kind === 'register' && isKnown(state, input.content, output.body) ? state : undefined
  },
  keyOf: (state) => `${subjectText(state)} ${state.registered.join(' ')}`,
}

function isKnown({ registered }: SubjectModelState, content: number, body: unknown): boolean {
  return registered.includes(`${content}@${(body as { version?: number }).version}`)
}

/** The parts of a subject that its users can read. */
export function subjectText({ versions, level, mode }: SubjectModelState): string {
  const of = ({ version, content, deleted }: ModelVersion) => `${deleted ? '-' : ''}${version}:${content}`
  return `[${versions.map(of).join(' ')}] ${level ?? ''} ${mode ?? ''}`
}

/** Whether a state answers a read in this way. */
export function isReadable({ versions }: SubjectModelState, read: SubjectRead, outcome: Outcome): boolean {
  const body = 'body' in outcome ? outcome.body : undefined
  switch (read.kind) {
    case 'versions':
      if (body === undefined) return versions.length === 0
      return JSON.stringify(body) === JSON.stringify(versions.map((one) => (one.deleted ? -one.version : one.version)))
    case 'version': {
      const found = versions.find(({ version }) => version === read.version)
      return body === undefined ? found === undefined : found?.content === (body as ReadVersion).content
    }
    case 'lookup': {
      const found = versions.filter(({ content, deleted }) => content === read.content && !deleted)
      if (body === undefined) return found.length === 0
      return found.some(({ version }) => version === (body as ReadVersion).version)
    }
  }
}

/** A version as it is read, with the number of its content. */
type ReadVersion = { readonly version: number; readonly content: number | undefined }

/** What a request does: the state after it and the possible answers, or the possible codes of its rejection. */
type Execution = {
  readonly after?: SubjectModelState
  readonly answers?: readonly unknown[]
  readonly codes?: readonly number[]
}

const rejected = (...codes: readonly number[]): Execution => ({ codes })

function isAnswer(input: SubjectRequest, answer: unknown, body: unknown): boolean {
  if (input.kind === 'register' || input.kind === 'import') return (body as ReadVersion).version === answer
  if (input.kind === 'delete-version' || input.kind === 'delete-subject')
    return JSON.stringify(body) === JSON.stringify(answer)
  return true
}

function execute(state: SubjectModelState, request: SubjectRequest): Execution {
  switch (request.kind) {
    case 'register':
      return register(state, request.content)
    case 'import':
      return importVersion(state, request)
    case 'delete-version':
      return deleteVersion(state, request)
    case 'delete-subject':
      return deleteSubject(state, request.permanent)
    case 'set-config':
      if (state.mode === 'READONLY') return rejected(NOT_PERMITTED)
      return { after: { ...state, level: request.level }, answers: [undefined] }
    case 'delete-config':
      if (state.level === undefined) return rejected(40_401)
      if (state.mode === 'READONLY') return rejected(NOT_PERMITTED)
      return { after: { ...state, level: undefined }, answers: [undefined] }
    case 'set-mode': {
      const clears = request.mode === 'IMPORT' && state.mode !== 'IMPORT' && !request.force
      if (clears && state.versions.some(({ deleted }) => !deleted)) return rejected(NOT_PERMITTED)
      const versions = clears ? [] : state.versions
      return { after: { ...state, versions, mode: request.mode }, answers: [undefined] }
    }
    case 'delete-mode':
      if (state.mode === undefined) return rejected(40_401)
      return { after: { ...state, mode: undefined }, answers: [undefined] }
  }
}

function register(state: SubjectModelState, content: number): Execution {
  const live = state.versions.filter(({ deleted }) => !deleted)
  const same = live.filter((one) => one.content === content)
  if (same.length > 0) return { after: state, answers: same.map(({ version }) => version) }
  if (state.mode === 'READONLY' || state.mode === 'IMPORT') return rejected(NOT_PERMITTED)
  const level = state.level ?? 'BACKWARD'
  const compared = level === 'NONE' ? [] : level === 'BACKWARD' ? live.slice(-1) : live
  if (compared.some((one) => shapeOf(one.content) !== shapeOf(content))) return rejected(40_901)
  return put(state, content, (state.versions.at(-1)?.version ?? 0) + 1)
}

/** Also removes older deleted versions with the same content. */
function put(state: SubjectModelState, content: number, version: number): Execution {
  const versions = [
    ...state.versions.filter(
      (one) => one.version !== version && !(one.deleted && one.content === content && one.version < version),
    ),
    { version, content, deleted: false },
  ].sort((one, other) => one.version - other.version)
  const registered = [...new Set([...state.registered, `${content}@${version}`])].sort()
  return { after: { ...state, versions, registered }, answers: [version] }
}

function importVersion(
  state: SubjectModelState,
  { content, version }: { readonly content: number; readonly version: number },
): Execution {
  const isHeld = state.versions.some((one) => !one.deleted && one.content === content && one.version === version)
  if (isHeld) return { after: state, answers: [version] }
  if (state.mode !== 'IMPORT') return rejected(NOT_PERMITTED)
  return put(state, content, version)
}

function deleteVersion(
  state: SubjectModelState,
  { version, permanent }: { readonly version: number | 'latest'; readonly permanent: boolean },
): Execution {
  const found =
    version === 'latest'
      ? state.versions.findLast(({ deleted }) => !deleted)
      : state.versions.find((one) => one.version === version)
  if (found === undefined) return rejected(40_401, 40_402)
  if (found.deleted && !permanent) return rejected(40_406)
  if (state.mode === 'READONLY') return rejected(NOT_PERMITTED)
  if (permanent && !found.deleted) return rejected(40_407)
  if (permanent) return removed(state, [found])
  const versions = state.versions.map((one) => (one === found ? { ...one, deleted: true } : one))
  return { after: { ...state, versions }, answers: [found.version] }
}

/** Mode and level end with the last version. */
function removed(state: SubjectModelState, gone: readonly ModelVersion[]): Execution {
  const versions = state.versions.filter((one) => !gone.includes(one))
  const { registered } = state
  return {
    after: versions.length === 0 ? { versions, registered } : { ...state, versions },
    answers: [gone[0]!.version],
  }
}

function deleteSubject(state: SubjectModelState, permanent: boolean): Execution {
  const live = state.versions.filter(({ deleted }) => !deleted)
  if (state.versions.length === 0) return rejected(40_401)
  if (!permanent && live.length === 0) return rejected(40_404)
  if (state.mode === 'READONLY') return rejected(NOT_PERMITTED)
  if (permanent && live.length > 0) return rejected(40_405)
  const numbers = (permanent ? state.versions : live).map(({ version }) => version)
  if (permanent) return { ...removed(state, state.versions), answers: [numbers] }
  const versions = state.versions.map((one) => ({ ...one, deleted: true }))
  return { after: { ...state, versions }, answers: [numbers] }
}
