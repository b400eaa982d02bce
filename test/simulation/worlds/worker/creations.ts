import { singleBatch } from '../../../../src/broker/record-batch/batch-header.ts'
import { recordsOf } from '../../../../src/broker/record-batch/record-batch.ts'
import { systemClock } from '../../../../src/common/clock.ts'
import { defineSink, field, type Plugin, z } from '../../../../src/sdk/index.ts'
import { parseWorkerAssignment } from '../../../../src/worker/membership/connect-protocol.ts'
import { parseConfigRecord } from '../../../../src/worker/stores/config-codec.ts'
import { currentProcess } from '../../current-process.ts'
import type { SimulatedBroker, StoredBatch } from '../../simulated-broker.ts'
import { promise } from '../../world.ts'

/** The connector that several users create at the same time, stopped, and that nobody changes or deletes. */
export const CREATED = 'archive'

/** The leader of the group, as the broker knows it. Undefined during a rebalance. */
type Leader = string | undefined

type Validation = { readonly creation: string; readonly worker: string; readonly leader: Leader }

/**
 * Observes the requests to create a connector, whose configurations say of which request they are, and how long their validation takes. The
 * leader of the group stores one of them, and a worker that is no longer the leader stores none that it has validated since.
 */
export class Creations {
  readonly #broker: SimulatedBroker
  readonly #validations: Validation[] = []
  /** Offsets of the config topic. */
  readonly #stored = new Set<number>()
  #ofLeader: string | undefined

  constructor(broker: SimulatedBroker) {
    this.#broker = broker
  }

  get plugin(): Plugin {
    return defineSink({
      class: 'Archive',
      version: '1.0.0',
      summary: 'Is created, and never runs.',
      config: z.object({
        creation: field.text({ doc: 'The request that creates it.' }),
        'validation.ms': field.int({ doc: 'How long its validation takes.' }),
      }),
      validate: async ({ creation, 'validation.ms': ms }) => {
        await systemClock.sleep(ms)
        this.#validations.push({ creation, worker: currentProcess()!.name, leader: await this.#leader() })
        return []
      },
      start: () => {
        throw new Error('it is stopped')
      },
    }) as Plugin
  }

  /** Called for each batch of the config topic. */
  async onStored({ bytes, baseOffset, writer }: StoredBatch): Promise<void> {
    // A repeated batch is reported again.
    if (this.#stored.has(baseOffset)) return
    this.#stored.add(baseOffset)
    const [leader, records] = await Promise.all([this.#leader(), recordsOf(singleBatch(bytes))])
    for (const { key, value } of records) {
      const record = parseConfigRecord(String(key), value === null ? null : String(value))
      if (record?.kind !== 'connector' || record.connector !== CREATED) continue
      const creation = record.config?.['creation']
      this.#broker.process.simulation.note(writer, `stores ${CREATED} of the ${creation} request`)
      const isValidatedByLeader = this.#validations.some(
        (at) => at.creation === creation && at.worker === writer && [writer, undefined].includes(at.leader),
      )
      promise(isValidatedByLeader, () => `${writer} stores ${CREATED}, which it validated when it was not the leader`)
      // A write that is on its way while another worker becomes the leader is not fenced, as in Kafka Connect.
      if (leader !== writer) continue
      promise(
        this.#ofLeader === undefined,
        () => `${CREATED} is stored for the ${creation} request, and exists since the ${this.#ofLeader} one`,
      )
      this.#ofLeader = creation
    }
  }

  async #leader(): Promise<Leader> {
    const { state, members } = await this.#broker.backend.describeGroup({ groupId: 'workers' })
    const assigned = members.find(({ assignment }) => assignment.length > 0)
    if (state !== 'stable' || assigned === undefined) return undefined
    return new URL(parseWorkerAssignment(assigned.assignment).leaderUrl).hostname
  }
}
