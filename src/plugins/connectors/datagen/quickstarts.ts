import { FLOAT64, INT32, INT64, type Schema, STRING, struct } from '../../../sdk/index.ts'
import type { Random } from './random.ts'

/** A stream of made-up records of one shape. `index` counts from 0. */
export type Quickstart = {
  readonly schema: Schema
  readonly keySchema: Schema
  record(index: number, random: Random): { readonly key: unknown; readonly value: Readonly<Record<string, unknown>> }
}

const START_MS = Date.UTC(2025, 0, 1)

const CITIES = [
  { city: 'Mountain View', state: 'CA', zipcode: 94041 },
  { city: 'Portland', state: 'OR', zipcode: 97205 },
  { city: 'Austin', state: 'TX', zipcode: 78701 },
  { city: 'Chicago', state: 'IL', zipcode: 60601 },
  { city: 'Boston', state: 'MA', zipcode: 2108 },
  { city: 'Denver', state: 'CO', zipcode: 80202 },
] as const
const REGIONS = [
  'Region_1',
  'Region_2',
  'Region_3',
  'Region_4',
  'Region_5',
  'Region_6',
  'Region_7',
  'Region_8',
  'Region_9',
]
const GENDERS = ['MALE', 'FEMALE', 'OTHER']

const orders: Quickstart = {
  schema: struct('ksql.orders', {
    ordertime: INT64,
    orderid: INT32,
    itemid: STRING,
    orderunits: FLOAT64,
    address: struct('ksql.address', { city: STRING, state: STRING, zipcode: INT64 }),
  }),
  keySchema: INT32,
  record(index, random) {
    const ordertime = START_MS + index * 1000 + random.below(1000)
    const orderid = index % 2 ** 31
    const itemid = `Item_${random.below(1000)}`
    const orderunits = (1 + random.below(100_000)) / 10_000
    return { key: orderid, value: { ordertime, orderid, itemid, orderunits, address: random.pick(CITIES) } }
  },
}

const users: Quickstart = {
  schema: struct('ksql.users', { registertime: INT64, userid: STRING, regionid: STRING, gender: STRING }),
  keySchema: STRING,
  record(_index, random) {
    const userid = `User_${1 + random.below(9)}`
    const registertime = START_MS + random.below(2 ** 31)
    return {
      key: userid,
      value: { registertime, userid, regionid: random.pick(REGIONS), gender: random.pick(GENDERS) },
    }
  },
}

const pageviews: Quickstart = {
  schema: struct('ksql.pageviews', { viewtime: INT64, userid: STRING, pageid: STRING }),
  keySchema: INT64,
  record(index, random) {
    const viewtime = 1 + index * 10
    return {
      key: viewtime,
      value: { viewtime, userid: `User_${1 + random.below(9)}`, pageid: `Page_${10 + random.below(90)}` },
    }
  },
}

export const QUICKSTARTS = { orders, users, pageviews } as const
export const QUICKSTART_NAMES = ['orders', 'users', 'pageviews'] as const
