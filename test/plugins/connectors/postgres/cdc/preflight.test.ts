import { describe, expect, it } from 'vitest'
import { parseReplicaIdentities } from '../../../../../src/plugins/connectors/postgres/cdc/config/replica-identities.ts'
import type { CapturedTable } from '../../../../../src/plugins/connectors/postgres/cdc/replication/captured-tables.ts'
import {
  describeProblems,
  findSetupProblems,
  findSetupWarnings,
  type SetupConfig,
} from '../../../../../src/plugins/connectors/postgres/cdc/replication/preflight.ts'
import { preparationSql } from '../../../../../src/plugins/connectors/postgres/cdc/replication/preparation-sql.ts'
import {
  type Publication,
  publicationSql,
} from '../../../../../src/plugins/connectors/postgres/cdc/replication/publication.ts'
import type { ServerState } from '../../../../../src/plugins/connectors/postgres/cdc/replication/server-state.ts'
import type { Slot } from '../../../../../src/plugins/connectors/postgres/cdc/replication/slot.ts'

const ORDERS: CapturedTable = {
  id: 1,
  schema: 'public',
  name: 'orders',
  rootId: undefined,
  replicaIdentity: 'd',
  identityIndex: undefined,
  hasPrimaryKey: true,
  isOwned: true,
  isReadable: true,
  hasPolicies: false,
}

const READY: ServerState = {
  version: 180_000,
  database: 'shop',
  role: 'weir',
  walLevel: 'logical',
  slotsMax: 10,
  slotsUsed: 0,
  sendersMax: 10,
  sendersUsed: 0,
  isStandby: false,
  isSuperuser: true,
  canReplicate: true,
  canCreate: true,
  currentLsn: 1n,
  slot: undefined,
  publication: undefined,
  tables: [ORDERS],
}

const CONFIG: SetupConfig = {
  'slot.name': 'debezium',
  'slot.failover': false,
  'publication.name': 'dbz_publication',
  'publication.autocreate.mode': 'all_tables',
  'publish.via.partition.root': false,
  'replica.identity.autoset.values': [],
}

const SLOT: Slot = {
  name: 'debezium',
  plugin: 'pgoutput',
  database: 'shop',
  activePid: undefined,
  confirmedLsn: 1n,
  walStatus: 'reserved',
  invalidationReason: undefined,
  retainedBytes: 0n,
  lagBytes: 0n,
}

const NO_SNAPSHOT = () => false
const WITHOUT_RIGHTS = { isSuperuser: false, canReplicate: false, canCreate: false }

describe('the check of a server', () => {
  it('finds nothing on a server that is ready', () => {
    expect(findSetupProblems(READY, CONFIG, NO_SNAPSHOT)).toEqual([])
    expect(findSetupWarnings(READY, CONFIG, NO_SNAPSHOT)).toEqual([])
  })

  it('warns of row-level security that applies to the role, if a snapshot reads the rows', () => {
    const state = { ...READY, tables: [{ ...ORDERS, hasPolicies: true }] }
    expect(findSetupWarnings(state, CONFIG, NO_SNAPSHOT)).toEqual([])
    expect(findSetupWarnings(state, CONFIG, () => true)).toEqual([
      {
        key: 'database.user',
        message:
          'row-level security applies to the role weir, so a snapshot misses the rows that its policies hide in public.orders',
        remedy: 'ALTER ROLE "weir" BYPASSRLS',
      },
    ])
  })

  it('lists everything that is wrong at once, with what mends it', () => {
    const state = { ...READY, ...WITHOUT_RIGHTS, walLevel: 'replica', slotsUsed: 10, sendersUsed: 10 }
    expect(describeProblems(findSetupProblems(state, CONFIG, NO_SNAPSHOT))).toBe(
      `1. wal_level of the server is replica, expected logical
   ALTER SYSTEM SET wal_level = logical; -- and restart the server (on Amazon RDS: rds.logical_replication = 1)
2. all 10 replication slots of the server are used, so debezium cannot be created
   ALTER SYSTEM SET max_replication_slots = 14; -- and restart the server, or drop a slot that is not used: SELECT slot_name FROM pg_replication_slots WHERE NOT active
3. all 10 WAL senders of the server are used
   ALTER SYSTEM SET max_wal_senders = 14; -- and restart the server
4. the role weir may not replicate
   ALTER ROLE "weir" REPLICATION; -- on Amazon RDS: GRANT rds_replication TO "weir"
5. the publication dbz_publication does not exist, and only a superuser can create one for all tables; weir is none
   CREATE PUBLICATION "dbz_publication" FOR ALL TABLES; -- as a superuser, or set publication.autocreate.mode=filtered`,
    )
  })

  it.each<[string, Partial<ServerState>, Partial<SetupConfig>, string]>([
    ['version', { version: 96_000 }, {}, 'the server has version 96000, expected 10 or later'],
    ['standby', { version: 150_000, isStandby: true }, {}, 'from which changes can be read since version 16 only'],
    ['slot.failover', { version: 160_000 }, { 'slot.failover': true }, 'slot.failover=true needs version 17'],
    [
      'publication',
      {},
      { 'publication.autocreate.mode': 'disabled' },
      'does not exist, and publication.autocreate.mode=disabled',
    ],
    ['tables', { tables: [] }, { 'publication.autocreate.mode': 'filtered' }, 'no table of the database is included'],
    [
      'ownership',
      { isSuperuser: false, tables: [{ ...ORDERS, isOwned: false }] },
      { 'publication.autocreate.mode': 'filtered' },
      'the role weir cannot add tables to dbz_publication that it does not own: public.orders',
    ],
    [
      'right to create',
      { isSuperuser: false, canCreate: false },
      { 'publication.autocreate.mode': 'filtered' },
      'the role weir may not create the publication dbz_publication in shop',
    ],
  ])('finds a problem of the %s', (_, state, config, message) => {
    expect(findSetupProblems({ ...READY, ...state }, { ...CONFIG, ...config }, NO_SNAPSHOT)).toMatchObject([
      { message: expect.stringContaining(message), remedy: expect.stringMatching(/\w/) },
    ])
  })

  it('needs the right to read tables only if their rows are read', () => {
    const state = {
      ...READY,
      tables: [
        { ...ORDERS, isReadable: false },
        { ...ORDERS, id: 2, name: 'lines' },
      ],
    }
    expect(findSetupProblems(state, CONFIG, NO_SNAPSHOT)).toEqual([])
    expect(findSetupProblems(state, CONFIG, ({ name }) => name === 'lines')).toEqual([])
    expect(findSetupProblems(state, CONFIG, () => true)).toEqual([
      {
        key: 'database.user',
        message: 'the role weir may not read the existing rows of public.orders',
        remedy:
          'GRANT USAGE ON SCHEMA "public" TO "weir"; GRANT SELECT ON "public"."orders" TO "weir"; -- or set snapshot.mode=no_data',
      },
    ])
  })

  it('warns when no table is captured', () => {
    expect(findSetupWarnings({ ...READY, tables: [] }, CONFIG, NO_SNAPSHOT)).toMatchObject([
      { key: 'table.include.list', message: 'no table of the database shop is captured' },
    ])
  })

  it('needs no rights for a publication that exists', () => {
    const state = { ...READY, isSuperuser: false, canCreate: false, publication: publicationOf([1], true) }
    expect(findSetupProblems(state, CONFIG, NO_SNAPSHOT)).toEqual([])
  })

  it('warns of tables that are not published and of tables without an identity', () => {
    const bare = { ...ORDERS, id: 2, name: 'log', hasPrimaryKey: false }
    const state = { ...READY, publication: publicationOf([2]), tables: [ORDERS, bare] }
    expect(findSetupWarnings(state, CONFIG, NO_SNAPSHOT).map(({ message, remedy }) => [message, remedy])).toEqual([
      [
        'the publication dbz_publication does not contain captured tables, so their changes are not sent: public.orders',
        'ALTER PUBLICATION "dbz_publication" ADD TABLE "public"."orders"',
      ],
      [
        'the server rejects UPDATE and DELETE on published tables without a primary key or replica identity: public.log',
        'ALTER TABLE "public"."log" REPLICA IDENTITY FULL; -- or set replica.identity.autoset.values',
      ],
    ])
  })
})

describe('the publication', () => {
  const other = { ...ORDERS, id: 2, name: 'we"ird' }
  const sql = (mode: SetupConfig['publication.autocreate.mode'], existing?: Publication, isViaRoot = false) =>
    publicationSql(
      { ...CONFIG, 'publication.autocreate.mode': mode, 'publish.via.partition.root': isViaRoot },
      existing,
      [ORDERS, other],
    )

  it('is created as publication.autocreate.mode says', () => {
    expect(sql('all_tables')).toEqual(['CREATE PUBLICATION "dbz_publication" FOR ALL TABLES'])
    expect(sql('filtered', undefined, true)).toEqual([
      'CREATE PUBLICATION "dbz_publication" FOR TABLE "public"."orders", "public"."we""ird" WITH (publish_via_partition_root = true)',
    ])
    expect(sql('no_tables')).toEqual(['CREATE PUBLICATION "dbz_publication"'])
    expect(sql('disabled')).toEqual([])
  })

  it('that exists is changed only by filtered, and only if its tables are others', () => {
    expect(sql('all_tables', publicationOf([1]))).toEqual([])
    expect(sql('filtered', publicationOf([1, 2]))).toEqual([])
    expect(sql('filtered', publicationOf([], true))).toEqual([])
    expect(sql('filtered', publicationOf([1]))).toEqual([
      'ALTER PUBLICATION "dbz_publication" SET TABLE "public"."orders", "public"."we""ird"',
    ])
  })
})

describe('replica identities', () => {
  it('are set by the first rule that matches, if they differ', () => {
    const rules = parseReplicaIdentities('public.orders:FULL, public.o.*:DEFAULT,public.pairs:INDEX pairs_key')
    const pairs = { ...ORDERS, name: 'pairs', replicaIdentity: 'i' }
    const config: SetupConfig = {
      ...CONFIG,
      'publication.autocreate.mode': 'disabled',
      'replica.identity.autoset.values': rules,
    }
    const others = [
      { ...ORDERS, name: 'others' },
      { ...pairs, identityIndex: 'pairs_key' },
      { ...ORDERS, name: 'x' },
    ]
    const tables = [ORDERS, { ...pairs, identityIndex: 'another_key' }, ...others]
    const set = [
      'ALTER TABLE "public"."orders" REPLICA IDENTITY FULL',
      'ALTER TABLE "public"."pairs" REPLICA IDENTITY USING INDEX "pairs_key"',
    ]
    expect(preparationSql({ tables, publication: undefined }, config)).toEqual(set)
    const foreign = tables.map((table) => ({ ...table, isOwned: false }))
    const state = { ...READY, publication: publicationOf([1]), tables: foreign, isSuperuser: false }
    expect(findSetupProblems(state, config, NO_SNAPSHOT)).toEqual([
      {
        key: 'replica.identity.autoset.values',
        message:
          'the role weir cannot set the replica identity of tables that it does not own: public.orders, public.pairs',
        remedy: `${set.join('; ')}; -- as their owner`,
      },
    ])
  })

  it.each(['public.orders', 'public.orders:ALL', ':', 'x:INDEX'])('in another form are rejected: %s', (text) => {
    expect(() => parseReplicaIdentities(text)).toThrow('is not REGEX:VALUE')
  })
})

function publicationOf(ids: readonly number[], isForAllTables = false): Publication {
  return { isForAllTables, addedIds: new Set(ids), publishedIds: new Set(ids) }
}

describe('a standby server', () => {
  it('needs what is missing to be executed on the primary server', () => {
    const standby = { ...READY, isStandby: true }
    expect(findSetupProblems(standby, CONFIG, NO_SNAPSHOT)).toEqual([
      expect.objectContaining({
        key: 'database.hostname',
        remedy: 'CREATE PUBLICATION "dbz_publication" FOR ALL TABLES; -- on the primary server',
      }),
    ])
    expect(findSetupProblems({ ...standby, publication: publicationOf([1]) }, CONFIG, NO_SNAPSHOT)).toEqual([])
  })
})

describe('a slot that cannot be used', () => {
  it.each([
    [{ plugin: undefined }, 'is a physical slot'],
    [{ plugin: 'decoderbufs' }, 'uses the plugin decoderbufs, expected pgoutput'],
    [{ database: 'other' }, 'belongs to the database other, expected shop'],
    [
      { invalidationReason: 'wal_removed' },
      'was invalidated: the server has removed log that the slot needs, because it exceeded max_slot_wal_keep_size',
    ],
    [{ invalidationReason: 'rows_removed' }, 'enable hot_standby_feedback'],
    [{ invalidationReason: 'idle_timeout' }, 'longer than idle_replication_slot_timeout'],
    [{ invalidationReason: 'wal_level_insufficient' }, 'lower than logical'],
    [{ invalidationReason: 'new_reason' }, 'the server reports new_reason'],
  ])('is a problem of its configuration: %j', (slot, message) => {
    const state = { ...READY, slot: { ...SLOT, ...slot }, publication: publicationOf([1]) }
    expect(findSetupProblems(state, CONFIG, NO_SNAPSHOT)).toMatchObject([
      { key: 'slot.name', message: expect.stringContaining(message), remedy: expect.stringMatching(/\w/) },
    ])
  })
})
