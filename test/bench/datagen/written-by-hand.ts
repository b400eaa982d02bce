import type { Random } from '../../../src/java-compat/avro-random-generator/random.ts'

type Generate = (
  index: number,
  random: Random,
) => { readonly key: unknown; readonly value: Readonly<Record<string, unknown>> }

const START_MS = Date.UTC(2025, 0, 1)
const CITIES = [
  { city: 'Portland', state: 'OR', zipcode: 97205 },
  { city: 'Austin', state: 'TX', zipcode: 78701 },
  { city: 'Chicago', state: 'IL', zipcode: 60601 },
  { city: 'Boston', state: 'MA', zipcode: 2108 },
  { city: 'Denver', state: 'CO', zipcode: 80202 },
]
const REGIONS = Array.from({ length: 9 }, (_, at) => `Region_${at + 1}`)
const GENDERS = ['MALE', 'FEMALE', 'OTHER']

/** Generators of three quickstarts without a schema, as Datagen had them before its generator for all schemas. */
export const WRITTEN_BY_HAND = {
  orders(index, random) {
    const ordertime = START_MS + index * 1000 + random.below(1000)
    const orderid = index % 2 ** 31
    const itemid = `Item_${random.below(1000)}`
    const orderunits = (1 + random.below(100_000)) / 10_000
    return { key: orderid, value: { ordertime, orderid, itemid, orderunits, address: random.pick(CITIES) } }
  },
  users(_index, random) {
    const userid = `User_${1 + random.below(9)}`
    const registertime = START_MS + random.below(2 ** 31)
    return {
      key: userid,
      value: { registertime, userid, regionid: random.pick(REGIONS), gender: random.pick(GENDERS) },
    }
  },
  pageviews(index, random) {
    const viewtime = 1 + index * 10
    return {
      key: viewtime,
      value: { viewtime, userid: `User_${1 + random.below(9)}`, pageid: `Page_${10 + random.below(90)}` },
    }
  },
} as const satisfies Readonly<Record<string, Generate>>

export type HandWrittenName = keyof typeof WRITTEN_BY_HAND
