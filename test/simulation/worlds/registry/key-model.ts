import type { SequentialModel } from '../../linearizability.ts'
import type { KeyRead, KeyRequest } from './registry-request.ts'
import type { Outcome } from './subject-model.ts'

export type ModelDek = { readonly material: string; readonly deleted: boolean }

/** A KEK with its DEKs, as their users know them. */
export type KekModelState = {
  readonly kek?: { readonly deleted: boolean } | undefined
  /** By `subject@version`. */
  readonly deks: Readonly<Record<string, ModelDek>>
}

export type KeyModelInput = KeyRequest | { readonly kind: 'state'; readonly state: KekModelState }

export const NO_KEK: KekModelState = { deks: {} }

const NOT_FOUND = 40_470

/** Writes of one KEK and its DEKs. */
export const keyModel: SequentialModel<KekModelState, KeyModelInput, Outcome> = {
  initial: NO_KEK,
  step(state, input, output) {
    if (input.kind === 'state') return kekText(input.state) === kekText(state) ? state : undefined
    const after = execute(state, input)
    if (output === undefined) return typeof after === 'number' ? state : after
    if ('code' in output) return after === output.code ? state : undefined
    return typeof after === 'number' ? undefined : after
  },
  keyOf: kekText,
}

export function kekText({ kek, deks }: KekModelState): string {
  const names = Object.keys(deks).sort()
  const texts = names.map((name) => `${name}=${deks[name]!.deleted ? '-' : ''}${deks[name]!.material}`)
  return `${kek === undefined ? 'none' : kek.deleted ? 'deleted' : 'live'} [${texts.join(' ')}]`
}

/** Whether a state answers a read in this way. */
export function isKeyReadable({ kek, deks }: KekModelState, read: KeyRead, outcome: Outcome): boolean {
  const dek = kek && deks[dekKey(read)]
  if ('code' in outcome) return dek === undefined && outcome.code === NOT_FOUND
  return dek?.material === (outcome.body as { encryptedKeyMaterial?: string }).encryptedKeyMaterial
}

type DekId = { readonly subject: string; readonly version: number }

export function dekKey({ subject, version }: DekId): string {
  return `${subject}@${version}`
}

/** The state after the request, or the code of its rejection. */
function execute(state: KekModelState, request: KeyRequest): KekModelState | number {
  const { kek } = state
  if (request.kind === 'create-kek') return kek && !kek.deleted ? 40_971 : { ...state, kek: { deleted: false } }
  if (kek === undefined) return NOT_FOUND
  if (request.kind === 'undelete-kek') return { ...state, kek: { deleted: false } }
  if (request.kind === 'delete-kek') return deleteKek(state, kek.deleted, request.permanent)
  return changeDek(state, kek.deleted, request)
}

function deleteKek(state: KekModelState, isDeleted: boolean, permanent: boolean): KekModelState | number {
  if (Object.values(state.deks).some((dek) => permanent || !dek.deleted)) return 42_272
  if (!permanent) return { ...state, kek: { deleted: true } }
  return isDeleted ? NO_KEK : 40_471
}

type DekChange = Extract<KeyRequest, DekId>

function changeDek(state: KekModelState, isKekDeleted: boolean, request: DekChange): KekModelState | number {
  const { [dekKey(request)]: dek, ...others } = state.deks
  const put = (changed: ModelDek) => ({ ...state, deks: { ...others, [dekKey(request)]: changed } })
  if (request.kind === 'create-dek') {
    if (isKekDeleted) return NOT_FOUND
    return dek ? 40_971 : put({ material: request.material, deleted: false })
  }
  if (dek === undefined) return NOT_FOUND
  if (request.kind === 'undelete-dek') return isKekDeleted ? 40_472 : put({ ...dek, deleted: false })
  if (!request.permanent) return put({ ...dek, deleted: true })
  return dek.deleted ? { ...state, deks: others } : 40_471
}
