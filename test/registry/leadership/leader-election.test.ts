import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Broker, Generation, GroupMembership, GroupProtocol } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { LeaderElection } from '../../../src/registry/leadership/leader-election.ts'
import type { LeaderWriter } from '../../../src/registry/leadership/leader-writer.ts'
import { describeConcurrently, whenTestEnds } from '../../support/concurrent-tests.ts'
import { joinAsConfluentRegistry } from '../../support/registry-member.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const WAIT = { everyMs: 10, timeoutMs: 60_000 }
const GROUP = 'schema-registry'
/** Members learn of a rebalance by a heartbeat. */
const HEARTBEAT_MS = 20

async function startBroker(): Promise<Broker> {
  const directory = join(temporaryDirectory(), 'data')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  whenTestEnds(() => broker.close())
  return broker
}

function joinConfluent(broker: Broker, host: string, isEligible = true): Promise<GroupMembership> {
  return joinAsConfluentRegistry(broker, { groupId: GROUP, host, isEligible, heartbeatMs: HEARTBEAT_MS })
}

/** `host` decides the election: the smallest URL wins. */
async function joinWeir(
  broker: Broker,
  host: string,
  isEligibilityDeferred: boolean,
  events: string[] = [],
): Promise<LeaderElection> {
  const options = {
    broker,
    logger: silentLogger(),
    groupId: GROUP,
    sticky: true,
    heartbeatMs: HEARTBEAT_MS,
    isEligibilityDeferred,
  }
  const election = new LeaderElection(options)
  whenTestEnds(() => election.close())
  await election.join({
    identity: { version: 1, host, port: 8081, master_eligibility: true, scheme: 'http' },
    openWriter: async () => {
      events.push('open')
      return { close: async () => void events.push('close') } as unknown as LeaderWriter
    },
  })
  return election
}

describeConcurrently('an instance whose eligibility is deferred', () => {
  it('follows the leader of the other kind, although its URL is smaller, until the last eligible one has left', {
    tags: ['slow'],
  }, async () => {
    const broker = await startBroker()
    const [first, second] = [await joinConfluent(broker, 'm1'), await joinConfluent(broker, 'm2')]
    await joinConfluent(broker, 'm0', false)
    const weir = await joinWeir(broker, 'a', true)
    await until('the leader to be known', WAIT, () => weir.leaderUrl() === 'http://m1:8081')
    expect(weir.writer()).toBeUndefined()
    await first.close()
    await until('the next leader', WAIT, () => weir.leaderUrl() === 'http://m2:8081')
    expect(weir.writer()).toBeUndefined()
    await second.close()
    await until('this instance to lead', WAIT, () => weir.writer() !== undefined)
    expect(weir.leaderUrl()).toBeUndefined()
  })

  it('does not write while an instance of the other kind joins, and remains the leader', {
    tags: ['slow'],
  }, async () => {
    const broker = await startBroker()
    const events: string[] = []
    const weir = await joinWeir(broker, 'b', true, events)
    await until('this instance to lead', WAIT, () => weir.writer() !== undefined)
    await joinConfluent(broker, 'a')
    // The election is over for the other instance, which could have been elected.
    expect(events.slice(0, 2)).toEqual(['open', 'close'])
    await until('this instance to lead again', WAIT, () => weir.writer() !== undefined)
    expect(events).toEqual(['open', 'close', 'open'])
  })

  it('leads a group without other instances, and one of two that are deferred', async () => {
    const broker = await startBroker()
    const elections = [await joinWeir(broker, 'a', true), await joinWeir(broker, 'b', true)]
    const leading = () => elections.filter((election) => election.writer() !== undefined)
    const following = () => elections.filter((election) => election.leaderUrl() !== undefined)
    await until('one leader', WAIT, () => leading().length === 1 && following().length === 1)
  })
})

describeConcurrently('an instance in a group of Weir only', () => {
  it('writes without a pause while another one joins', async () => {
    const broker = await startBroker()
    const events: string[] = []
    const first = await joinWeir(broker, 'b', false, events)
    const second = await joinWeir(broker, 'a', false)
    await until('the other instance to follow', WAIT, () => second.leaderUrl() === 'http://b:8081')
    expect(first.writer()).toBeDefined()
    expect(events).toEqual(['open'])
  })

  it('keeps the writer that it started to open last, and closes an earlier one that is open later', async () => {
    let protocol: GroupProtocol | undefined
    const membership = { validUntilMs: () => Number.POSITIVE_INFINITY, close: async () => undefined }
    const joinGroup = async (options: { readonly protocol: GroupProtocol }) => {
      protocol = options.protocol
      return membership
    }
    const opened: PromiseWithResolvers<LeaderWriter>[] = []
    const closed: number[] = []
    const writers = [0, 1, 2].map((at) => ({ close: async () => void closed.push(at) }) as unknown as LeaderWriter)
    const options = { broker: { joinGroup } as unknown as Broker, logger: silentLogger(), groupId: GROUP, sticky: true }
    const election = new LeaderElection(options)
    const openWriter = () => {
      const opening = Promise.withResolvers<LeaderWriter>()
      opened.push(opening)
      return opening.promise
    }
    await election.join({
      identity: { version: 1, host: 'a', port: 8081, master_eligibility: true, scheme: 'http' },
      openWriter,
    })
    const assignment = Buffer.from(JSON.stringify({ version: 1, error: 0, master: 'me', master_identity: null }))
    const elected = () => protocol!.onJoined({ memberId: 'me', assignment } as unknown as Generation)
    const first = elected()
    opened[0]!.resolve(writers[0]!)
    await first
    election.replaceWriter('a write failed')
    await until('another writer to be opened', WAIT, () => opened.length === 2)
    const again = elected()
    opened[2]!.resolve(writers[2]!)
    await again
    opened[1]!.resolve(writers[1]!)
    await until('the earlier ones to be closed', WAIT, () => closed.join() === '0,1')
    expect(election.writer()).toBe(writers[2])
  })

  it('is elected again if a write fails while its session may have expired, which is then renewed', async () => {
    let protocol: GroupProtocol | undefined
    let validUntilMs = Number.POSITIVE_INFINITY
    const rejoined: string[] = []
    const closed: string[] = []
    const joinGroup = async (options: { readonly protocol: GroupProtocol }) => {
      protocol = options.protocol
      const rejoin = (reason: string) => void rejoined.push(reason)
      return { validUntilMs: () => validUntilMs, close: async () => undefined, rejoin }
    }
    const options = { broker: { joinGroup } as unknown as Broker, logger: silentLogger(), groupId: GROUP, sticky: true }
    const election = new LeaderElection(options)
    await election.join({
      identity: { version: 1, host: 'a', port: 8081, master_eligibility: true, scheme: 'http' },
      openWriter: async () => ({ close: async () => void closed.push('close') }) as unknown as LeaderWriter,
    })
    const assignment = Buffer.from(JSON.stringify({ version: 1, error: 0, master: 'me', master_identity: null }))
    const elected = () => protocol!.onJoined({ memberId: 'me', assignment } as unknown as Generation)
    await elected()
    validUntilMs = 0
    election.replaceWriter('a write failed')
    await until('the writer to be closed', WAIT, () => closed.length === 1)
    validUntilMs = Number.POSITIVE_INFINITY
    await until('another election to be requested', WAIT, () => rejoined.join() === 'a write failed')
    await elected()
    expect(election.writer()).toBeDefined()
  })
})
