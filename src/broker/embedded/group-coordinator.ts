import type { Logger } from '../../common/logging/logger.ts'
import type { CommittedOffset, GroupDescription, MemberGeneration, TopicPartition } from '../broker.ts'
import type { BackendRequest, JoinResult } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import { ClassicGroup, unknownMemberError } from './classic-group.ts'
import { deleteOffsets, readOffsets, writeOffsets } from './group-offsets.ts'
import type { Storage, WriteTransaction } from './storage.ts'

type Options = { readonly storage: Storage; readonly logger: Logger; readonly nowMs: () => number }

/**
 * The coordinator of all groups. Members are kept in memory, because they do not outlive this process; offsets and the
 * last generation are stored. Groups with offsets only are not in memory.
 */
export class GroupCoordinator {
  readonly #storage: Storage
  readonly #logger: Logger
  readonly #nowMs: () => number
  /** All groups that were ever joined. */
  readonly #groups = new Map<string, ClassicGroup>()

  constructor({ storage, logger, nowMs }: Options) {
    this.#storage = storage
    this.#logger = logger
    this.#nowMs = nowMs
    for (const row of storage.prepare('select name, generation, protocol_type from groups').all()) {
      const last = { generation: Number(row['generation']), protocolType: String(row['protocol_type']) }
      const name = String(row['name'])
      this.#groups.set(name, this.#create(name, last))
    }
  }

  join(request: BackendRequest<'joinGroup'>): Promise<JoinResult> {
    const { groupId } = request
    const group = this.#groups.get(groupId) ?? this.#create(groupId, { generation: 0, protocolType: '' })
    const response = group.join(request, this.#nowMs()) // Throws for a bad request: then there is no group.
    this.#groups.set(groupId, group)
    return response
  }

  sync(request: BackendRequest<'syncGroup'>): Promise<Uint8Array> {
    return this.#group(request).sync(request, this.#nowMs())
  }

  heartbeat(request: BackendRequest<'heartbeat'>): void {
    this.#group(request).heartbeat(request, this.#nowMs())
  }

  leave(request: BackendRequest<'leaveGroup'>): void {
    this.#group(request).leave(request, this.#nowMs())
  }

  /** Throws if these offsets may not be committed now. */
  checkCommit(groupId: string, member: MemberGeneration | undefined): void {
    const group = this.#groups.get(groupId)
    if (group !== undefined) group.checkCommit(member)
    else if (member !== undefined) throw unknownMemberError(groupId, member.memberId)
  }

  /** Inside a write. */
  commit(groupId: string, offsets: readonly CommittedOffset[], member: MemberGeneration | undefined): void {
    this.checkCommit(groupId, member)
    writeOffsets(this.#storage, groupId, offsets)
  }

  offsets(groupId: string, partitions?: readonly TopicPartition[]): readonly CommittedOffset[] {
    return readOffsets(this.#storage, groupId, partitions)
  }

  list(): readonly { readonly groupId: string; readonly protocolType: string }[] {
    const rows = this.#storage.guarded(() =>
      this.#storage.prepare('select distinct group_name from group_offsets').all(),
    )
    const types = new Map(rows.map((row) => [String(row['group_name']), '']))
    for (const group of this.#groups.values()) types.set(group.id, group.protocolType)
    return [...types].map(([groupId, protocolType]) => ({ groupId, protocolType }))
  }

  describe(groupId: string): GroupDescription {
    const state = this.#isKnown(groupId) ? 'empty' : 'dead'
    return this.#groups.get(groupId)?.describe() ?? { groupId, state, protocolType: '', protocol: '', members: [] }
  }

  /** Inside a write. */
  deleteOffsets(groupId: string, partitions: readonly TopicPartition[]): void {
    this.#checkEmpty(groupId)
    deleteOffsets(this.#storage, groupId, partitions)
  }

  /** Inside a write. */
  delete(groupId: string, change: WriteTransaction): void {
    this.#checkEmpty(groupId)
    this.#storage.prepare('delete from group_offsets where group_name = ?').run(groupId)
    this.#storage.prepare('delete from groups where name = ?').run(groupId)
    change.onCommit(() => this.#groups.delete(groupId))
  }

  tick(): void {
    for (const group of this.#groups.values()) group.tick(this.#nowMs())
  }

  close(): void {
    for (const group of this.#groups.values()) group.close(new BrokerError('closed', 'the embedded broker is closed'))
  }

  #group(request: { readonly groupId: string; readonly memberId: string }): ClassicGroup {
    const group = this.#groups.get(request.groupId)
    if (group === undefined) throw unknownMemberError(request.groupId, request.memberId)
    return group
  }

  #checkEmpty(groupId: string): void {
    if (!this.#isKnown(groupId)) throw new BrokerError('group_not_found', `group '${groupId}' does not exist`)
    if (this.#groups.get(groupId)?.isEmpty === false) {
      throw new BrokerError('group_not_empty', `group '${groupId}' has active members: stop them first`)
    }
  }

  #isKnown(groupId: string): boolean {
    return this.#groups.has(groupId) || this.offsets(groupId).length > 0
  }

  #create(groupId: string, last: { readonly generation: number; readonly protocolType: string }): ClassicGroup {
    return new ClassicGroup(groupId, last, (group) => this.#remember(group))
  }

  /**
   * Stores the generation, so that it increases across restarts. Not awaited: after a restart member ids are rejected
   * anyway.
   */
  #remember(group: ClassicGroup): void {
    const { id, protocolType, generation } = group
    const store = () =>
      this.#storage
        .prepare(
          `insert into groups (name, protocol_type, generation) values (?, ?, ?) on conflict (name)
           do update set protocol_type = excluded.protocol_type, generation = excluded.generation`,
        )
        .run(id, protocolType, generation)
    this.#storage.write(store).catch((error: unknown) => {
      this.#logger.warn({ err: error, group: id, generation }, 'cannot store the generation of a group')
    })
  }
}
