import { z } from 'zod'
import type { GroupDescription } from '../../broker/broker.ts'
import type { Takeover, TakeoverGoal, TakeoverStep } from './takeover.ts'

/** The client id of Weir's registries, by which they are told apart from others of the same protocol. */
const WEIR_CLIENT_ID = 'weir-registry'

type RegistryMember = {
  readonly url: string
  readonly isWeir: boolean
  readonly isEligible: boolean
  readonly isLeader: boolean
}

/** The topic of the schemas; `endOffset` is undefined if it does not exist. */
export type RegistryTopic = { readonly name: string; readonly endOffset: number | undefined }

const identitySpec = z.object({
  host: z.string(),
  port: z.number(),
  scheme: z.string().default('http'),
  master_eligibility: z.boolean().default(true),
})
const assignmentSpec = z.object({ master: z.string().nullish() })

/**
 * The takeover of a group of registries: Weir joins it, follows, and leads when the others have left. The return is the
 * reverse.
 */
export function registryTakeover(
  group: GroupDescription,
  { name, endOffset }: RegistryTopic,
  goal: TakeoverGoal = 'takeover',
): Takeover {
  const members = membersOf(group)
  const weir = members.filter(({ isWeir }) => isWeir)
  const others = members.filter(({ isWeir }) => !isWeir)
  return {
    goal,
    facts: [
      `Group ${group.groupId}: ${group.state}, ${others.length} other instances, ${weir.length} of Weir.`,
      ...members.map(describeMember),
      ...eagerMembers(weir, others),
      endOffset === undefined ? `Topic ${name}: does not exist.` : `Topic ${name}: ends at offset ${endOffset}.`,
    ],
    steps: goal === 'takeover' ? takeoverSteps(weir, others) : returnSteps(weir, others),
  }
}

type Members = readonly RegistryMember[]

function takeoverSteps(weir: Members, others: Members): readonly TakeoverStep[] {
  const isLeading = weir.some(({ isLeader }) => isLeader)
  return [
    {
      action:
        'Start `weir registry` beside the other instances, with their settings, a host.name of its own and leader.eligibility.deferred=true.',
      isDone: weir.length > 0,
      back: 'Stop Weir. It was a follower and has written nothing.',
    },
    {
      action: 'Move the clients to Weir (DNS name, load balancer), then stop the other instances one after the other.',
      isDone: weir.length > 0 && others.length === 0,
      back: 'Start the other instances, move the clients back to them, then stop Weir.',
    },
    {
      action: 'Wait until an instance of Weir is the leader: some seconds, during which writes fail with 503.',
      isDone: isLeading && others.length === 0,
      back: 'Start the other instances: they read everything that Weir has written. Move the clients back to them, then stop Weir.',
    },
  ]
}

function returnSteps(weir: Members, others: Members): readonly TakeoverStep[] {
  const isLed = others.some(({ isLeader }) => isLeader)
  return [
    {
      action:
        'Start the other instances beside `weir registry`, whose instances must have leader.eligibility.deferred=true.',
      isDone: others.length > 0,
      back: 'Stop the other instances: Weir leads again, and has everything that they have written.',
    },
    {
      action: 'Move the clients to the other instances (DNS name, load balancer), then stop those of Weir.',
      isDone: others.length > 0 && weir.length === 0,
      back: 'Start Weir beside the other instances, move the clients to it, then stop the other instances.',
    },
    {
      action: 'Wait until one of the other instances is the leader: some seconds, during which writes fail.',
      isDone: isLed && weir.length === 0,
      back: 'Start Weir beside the other instances, move the clients to it, then stop the other instances.',
    },
  ]
}

function membersOf({ members }: GroupDescription): readonly RegistryMember[] {
  return members.map(({ memberId, clientId, metadata, assignment }) => {
    const identity = parseAs(identitySpec, metadata)
    // During a rebalance there is no assignment.
    const master = parseAs(assignmentSpec, assignment)?.master
    return {
      url: identity === undefined ? memberId : `${identity.scheme}://${identity.host}:${identity.port}`,
      isWeir: clientId === WEIR_CLIENT_ID,
      isEligible: identity?.master_eligibility ?? true,
      isLeader: master === memberId,
    }
  })
}

/** Undefined for bytes that are not of this form: any client may join a group. */
function parseAs<Spec extends z.ZodType>(spec: Spec, bytes: Uint8Array): z.infer<Spec> | undefined {
  try {
    return spec.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return undefined
  }
}

function describeMember({ url, isWeir, isEligible, isLeader }: RegistryMember): string {
  const role = isLeader ? 'leader' : isEligible ? 'follower, eligible' : 'follower, not eligible'
  return `  ${url}: ${isWeir ? 'Weir' : 'another registry'}, ${role}`
}

function eagerMembers(weir: readonly RegistryMember[], others: readonly RegistryMember[]): readonly string[] {
  if (!others.some(({ isEligible }) => isEligible)) return []
  return weir
    .filter(({ isEligible }) => isEligible)
    .map(
      ({ url }) => `Warning: ${url} can become the leader now: set leader.eligibility.deferred=true to prevent that.`,
    )
}
