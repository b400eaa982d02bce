import { z } from 'zod'

/** The group metadata of an instance, in the format of Confluent's registry. */
export type MemberIdentity = {
  readonly version: number
  readonly host: string
  readonly port: number
  readonly master_eligibility: boolean
  readonly scheme: string
  /** Whether the instance is the leader now. Not all implementations send it. */
  readonly leader?: boolean
}

/** The result of an election, in the format of Confluent's registry. Every member gets the same assignment. */
export type Assignment = {
  readonly version: number
  /** 0: no error. 1: two members have the same URL. */
  readonly error: number
  readonly master: string | null
  readonly master_identity: MemberIdentity | null
}

export type ElectionCandidate = { readonly memberId: string; readonly identity: MemberIdentity }

const identitySpec = z.object({
  version: z.number().default(1),
  host: z.string(),
  port: z.number(),
  master_eligibility: z.boolean().default(true),
  scheme: z.string().default('http'),
  leader: z.boolean().optional(),
})
const assignmentSpec = z.object({
  version: z.number().default(1),
  error: z.number().default(0),
  master: z.string().nullish(),
  master_identity: identitySpec.nullish(),
})

export function parseIdentity(bytes: Uint8Array): MemberIdentity {
  return identitySpec.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))) as MemberIdentity
}

export function parseAssignment(bytes: Uint8Array): Assignment {
  const { version, error, master, master_identity } = assignmentSpec.parse(
    JSON.parse(Buffer.from(bytes).toString('utf8')),
  )
  return { version, error, master: master ?? null, master_identity: (master_identity ?? null) as MemberIdentity | null }
}

export function urlOf({ scheme, host, port }: MemberIdentity): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Elects the eligible member with the smallest URL. With `sticky`, the current leader is kept. */
export function electLeader(candidates: readonly ElectionCandidate[], sticky: boolean): Assignment {
  const urls = candidates.map(({ identity }) => urlOf(identity))
  if (new Set(urls).size < urls.length) return { version: 1, error: 1, master: null, master_identity: null }
  const eligible = candidates
    .filter(({ identity }) => identity.master_eligibility)
    .sort((a, b) => (urlOf(a.identity) < urlOf(b.identity) ? -1 : 1))
  const leading = eligible.filter(({ identity }) => identity.leader === true)
  const chosen = sticky && leading.length === 1 ? leading[0] : eligible[0]
  return {
    version: 1,
    error: 0,
    master: chosen?.memberId ?? null,
    master_identity: chosen?.identity ?? null,
  }
}
