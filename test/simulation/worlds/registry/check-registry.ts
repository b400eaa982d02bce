import { isLinearizable, type Operation, type SequentialModel } from '../../linearizability.ts'
import { promise } from '../../world.ts'
import type { RegistryRoom } from '../registry.ts'
import { isKeyReadable, type KekModelState, kekText, keyModel } from './key-model.ts'
import { INSTANCES, KEKS, SUBJECTS } from './plan-registry.ts'
import { checkSchemas, kekHistory, readRecords, type StateHistory, subjectHistory } from './registry-log.ts'
import type { KeyRead, RegistryRequest, SubjectRead } from './registry-request.ts'
import type { SentRequest } from './registry-user.ts'
import { isReadable, type Outcome, type SubjectModelState, subjectModel, subjectText } from './subject-model.ts'

const READS: ReadonlySet<RegistryRequest['kind']> = new Set(['versions', 'version', 'lookup', 'dek'])

/** Checks the promises of the registry when all faults have ended. */
export async function checkRegistry(room: RegistryRoom): Promise<void> {
  const sent = room.user.sent.slice()
  const schemas = await readRecords(room.stored, '_schemas')
  const keys = await readRecords(room.stored, '_dek_registry_keys')
  checkSchemas(schemas, SUBJECTS)
  const subjects = new Map(SUBJECTS.map((subject) => [subject as string, subjectHistory(schemas, subject)]))
  const keks = new Map(KEKS.map((kek) => [kek as string, kekHistory(keys, kek)]))
  for (const [subject, history] of subjects) {
    const own = sent.filter(({ request }) => !('kek' in request) && request.subject === subject)
    checkOrder(`subject ${subject}`, subjectModel, own, history, subjectText)
  }
  for (const [kek, history] of keks) {
    const own = sent.filter(({ request }) => 'kek' in request && request.kek === kek)
    checkOrder(`KEK ${kek}`, keyModel, own, history, kekText)
  }
  checkReads(sent, subjects, keks)
  await checkAllAgree(room, subjects, keks)
}

/** The writes take effect one at a time, each between its request and its response, and lead to what is stored. */
function checkOrder<State, Input extends { readonly kind: string }>(
  name: string,
  model: SequentialModel<State, Input, Outcome>,
  sent: readonly SentRequest[],
  history: StateHistory<State>,
  textOf: (state: State) => string,
): void {
  const writes = sent.filter(({ request, hadNoEffect }) => !READS.has(request.kind) && !hadNoEffect)
  const operations: Operation<Input, Outcome>[] = writes.map(({ request, outcome, calledAt, returnedAt }) => ({
    input: request as unknown as Input,
    output: outcome,
    calledAt,
    returnedAt,
  }))
  const { state } = history.at(-1)!
  const last = Math.max(
    0,
    ...sent.flatMap(({ calledAt, returnedAt }) => [calledAt, Number.isFinite(returnedAt) ? returnedAt : 0]),
  )
  operations.push({
    input: { kind: 'state', state } as unknown as Input,
    output: { body: undefined },
    calledAt: last + 1,
    returnedAt: last + 2,
  })
  promise(
    isLinearizable(model, operations),
    () =>
      `no order explains the responses about ${name} and what is stored, ${textOf(state)}:\n${writes
        .map(
          ({ number, request, outcome }) =>
            `  ${number} ${JSON.stringify(request)} ${JSON.stringify(outcome) ?? 'unknown'}`,
        )
        .join('\n')}`,
  )
}

/** What an instance answers from its own state never goes back, and contains what it has acknowledged before. */
function checkReads(
  sent: readonly SentRequest[],
  subjects: ReadonlyMap<string, StateHistory<SubjectModelState>>,
  keks: ReadonlyMap<string, StateHistory<KekModelState>>,
): void {
  /** By process and topic: from when on its state contains which offset. */
  const floors = new Map<string, { readonly fromAt: number; readonly offset: number }[]>()
  const answered = sent
    .filter(({ outcome }) => outcome !== undefined)
    .sort((one, other) => one.returnedAt - other.returnedAt)
  for (const request of answered) {
    const isKey = 'kek' in request.request
    const connection = `${request.to} ${isKey}`
    const known = floors.get(connection) ?? []
    floors.set(connection, known)
    const floor = Math.max(0, ...known.filter(({ fromAt }) => fromAt < request.calledAt).map(({ offset }) => offset))
    const offset =
      'kek' in request.request
        ? offsetOf(request, keks.get(request.request.kek), floor, (state) =>
            isKeyReadable(state, request.request as KeyRead, request.outcome!),
          )
        : offsetOf(request, subjects.get(request.request.subject), floor, (state) =>
            isReadable(state, readOf(request.request), request.outcome!),
          )
    if (offset !== undefined) known.push({ fromAt: request.returnedAt, offset })
  }
}

/** A registration that wrote nothing was answered like a lookup. */
function readOf(request: RegistryRequest): SubjectRead {
  return request.kind === 'register' ? { ...request, kind: 'lookup' } : (request as SubjectRead)
}

/** An offset that the state of the instance has reached when it answers; undefined if nothing is known. */
function offsetOf<State>(
  { request, outcome, to, number, calledMs, returnedMs }: SentRequest,
  history: StateHistory<State> | undefined,
  floor: number,
  isMatch: (state: State) => boolean,
): number | undefined {
  if (history === undefined || outcome === undefined) return undefined
  const isRead = READS.has(request.kind)
  if (!isRead && 'code' in outcome) return undefined
  if (!isRead) {
    const own = history.find(
      ({ record }) => record !== undefined && record.atMs >= calledMs && record.atMs <= returnedMs,
    )
    if (own) return own.fromOffset
    if (request.kind !== 'register') return undefined
  }
  const found = history.find(
    ({ state }, at) => (history[at + 1]?.fromOffset ?? Number.POSITIVE_INFINITY) > floor && isMatch(state),
  )
  promise(
    found !== undefined,
    () =>
      `request ${number} to ${to} (${JSON.stringify(request)}) is answered with ${JSON.stringify(outcome)}, which is no state from offset ${floor} on`,
  )
  return Math.max(floor, found!.fromOffset)
}

/** Every instance has what is stored. */
async function checkAllAgree(
  room: RegistryRoom,
  subjects: ReadonlyMap<string, StateHistory<SubjectModelState>>,
  keks: ReadonlyMap<string, StateHistory<KekModelState>>,
): Promise<void> {
  const { simulation, user } = room
  const reads: { readonly read: SubjectRead | KeyRead; readonly isRight: (outcome: Outcome) => boolean }[] = []
  for (const [subject, history] of subjects) {
    const { state } = history.at(-1)!
    const add = (read: SubjectRead) => reads.push({ read, isRight: (outcome) => isReadable(state, read, outcome) })
    add({ kind: 'versions', subject })
    for (const { version } of state.versions) add({ kind: 'version', subject, version })
  }
  for (const [kek, history] of keks) {
    const { state } = history.at(-1)!
    for (const name of Object.keys(state.deks)) {
      const [subject = '', version] = name.split('@')
      const read: KeyRead = { kind: 'dek', kek, subject, version: Number(version) }
      reads.push({ read, isRight: (outcome) => isKeyReadable(state, read, outcome) })
    }
  }
  let running: number = INSTANCES.length
  for (const name of INSTANCES) {
    const readAll = async () => {
      for (const { read, isRight } of reads) {
        const { outcome } = await user.request(name, room.lifeOf(name), read)
        promise(
          outcome !== undefined && isRight(outcome),
          () =>
            `${name} answers ${JSON.stringify(read)} with ${JSON.stringify(outcome)} in the end, which is not what is stored`,
        )
      }
      running -= 1
    }
    user.process.run(() => void readAll().catch((error: unknown) => user.process.fail(error)))
  }
  promise(
    await simulation.run(simulation.nowMs + 60_000, () => running === 0),
    () => 'reads are not answered in the end',
  )
}
