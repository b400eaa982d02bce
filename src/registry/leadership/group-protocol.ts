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
