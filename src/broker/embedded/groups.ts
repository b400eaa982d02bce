import type { Logger } from '../../config/logger.ts'
import type { CommittedOffset, GroupDescription, GroupMember, TopicPartition } from '../broker.ts'
import { BrokerError } from '../error.ts'
import type { Home, JoinResult } from '../home.ts'
import { Group, unknownMember } from './group.ts'
import { deleteOffsets, readOffsets, writeOffsets } from './group-offsets.ts'
import type { Change, Storage } from './storage.ts'

type Options = { readonly storage: Storage; readonly logger: Logger; readonly nowMs: () => number }
type GroupRow = { readonly generation: number; readonly protocolType: string }

/**
 * The coordinator of all groups. Who is a member lives in memory, because members don't outlive this process; offsets
 * and the last generation are on disk. A group without members is forgotten until somebody joins again.
 */
export class Groups {
  readonly #storage: Storage
  readonly #logger: Logger
  readonly #nowMs: () => number
  readonly #live = new Map<string, Group>()

  constructor({ storage, logger, nowMs }: Options) {
    this.#storage = storage
    this.#logger = logger
    this.#nowMs = nowMs
  }

  join(request: Parameters<Home['joinGroup']>[0]): Promise<JoinResult> {
    const known = this.#live.get(request.groupId)
    if (known !== undefined) return known.join(request, this.#nowMs())
    const last = this.#row(request.groupId) ?? { generation: 0, protocolType: '' }
    const group = new Group(request.groupId, last, (completed) => this.#remember(completed))
    const answer = group.join(request, this.#nowMs()) // Throws for a bad request: then there is no group.
    this.#live.set(request.groupId, group)
    return answer
  }

  sync(request: Parameters<Home['syncGroup']>[0]): Promise<Uint8Array> {
    return this.#group(request).sync(request, this.#nowMs())
  }

  heartbeat(request: Parameters<Home['heartbeat']>[0]): void {
    this.#group(request).heartbeat(request, this.#nowMs())
  }

  leave(request: Parameters<Home['leaveGroup']>[0]): void {
    const group = this.#group(request)
    group.leave(request.memberId, this.#nowMs())
    if (group.isEmpty) this.#live.delete(group.id)
  }

  /** Throws unless these offsets may be committed now. */
  checkCommit(groupId: string, member: GroupMember | undefined): void {
    const group = this.#live.get(groupId)
    if (group !== undefined) group.checkCommit(member)
    else if (member !== undefined) throw unknownMember(groupId, member.memberId)
  }

  /** Inside a write. */
  commit(groupId: string, offsets: readonly CommittedOffset[], member: GroupMember | undefined): void {
    this.checkCommit(groupId, member)
    writeOffsets(this.#storage, groupId, offsets)
  }

  offsets(groupId: string, partitions?: readonly TopicPartition[]): readonly CommittedOffset[] {
    return readOffsets(this.#storage, groupId, partitions)
  }

  list(): readonly { readonly groupId: string; readonly protocolType: string }[] {
    const rows = this.#storage.guarded(() =>
      this.#storage
        .prepare(
          `select name, protocol_type from groups
           union select group_name, '' from group_offsets where group_name not in (select name from groups)`,
        )
        .all(),
    )
    const types = new Map(rows.map((row) => [String(row['name']), String(row['protocol_type'])]))
    for (const group of this.#live.values()) types.set(group.id, group.protocolType)
    return [...types].map(([groupId, protocolType]) => ({ groupId, protocolType }))
  }

  describe(groupId: string): GroupDescription {
    const live = this.#live.get(groupId)
    if (live !== undefined) return live.describe()
    const protocolType = this.#row(groupId)?.protocolType ?? ''
    return { groupId, state: this.#isKnown(groupId) ? 'empty' : 'dead', protocolType, protocol: '', members: [] }
  }

  /** Inside a write. */
  deleteOffsets(groupId: string, partitions: readonly TopicPartition[]): void {
    this.#checkEmpty(groupId)
    deleteOffsets(this.#storage, groupId, partitions)
  }

  /** Inside a write. */
  delete(groupId: string): void {
    this.#checkEmpty(groupId)
    this.#storage.prepare('delete from group_offsets where group_name = ?').run(groupId)
    this.#storage.prepare('delete from groups where name = ?').run(groupId)
  }

  tick(): void {
    for (const group of [...this.#live.values()]) {
      group.tick(this.#nowMs())
      if (group.isEmpty) this.#live.delete(group.id)
    }
  }

  close(): void {
    for (const group of this.#live.values()) group.close(new BrokerError('closed', 'the embedded broker is closed'))
    this.#live.clear()
  }

  #group(request: { readonly groupId: string; readonly memberId: string }): Group {
    const group = this.#live.get(request.groupId)
    if (group === undefined) throw unknownMember(request.groupId, request.memberId)
    return group
  }

  #checkEmpty(groupId: string): void {
    if (!this.#isKnown(groupId)) throw new BrokerError('group_not_found', `there is no group '${groupId}'`)
    if (this.#live.get(groupId)?.isEmpty === false) {
      throw new BrokerError('group_not_empty', `group '${groupId}' has members: they have to leave first`)
    }
  }

  #isKnown(groupId: string): boolean {
    return this.#live.has(groupId) || this.#row(groupId) !== undefined || this.offsets(groupId).length > 0
  }

  #row(groupId: string): GroupRow | undefined {
    const row = this.#storage.guarded(() =>
      this.#storage.prepare('select generation, protocol_type from groups where name = ?').get(groupId),
    )
    return row && { generation: Number(row['generation']), protocolType: String(row['protocol_type']) }
  }

  /** So that generations grow beyond a restart. Nobody waits for it: after one, member ids are refused anyway. */
  #remember(group: Group): void {
    const { id, protocolType, generation } = group
    const store = (_: Change) =>
      this.#storage
        .prepare(
          `insert into groups (name, protocol_type, generation) values (?, ?, ?) on conflict (name)
           do update set protocol_type = excluded.protocol_type, generation = excluded.generation`,
        )
        .run(id, protocolType, generation)
    this.#storage.write(store).catch((error: unknown) => {
      this.#logger.warn({ err: error, group: id, generation }, 'generation of a group could not be stored')
    })
  }
}
