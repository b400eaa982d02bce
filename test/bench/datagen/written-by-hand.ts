import type { Random } from '../../../src/java-compat/avro-random-generator/random.ts'

type Generate = (
  index: number,
  random: Random,
) => { readonly key: unknown; readonly value: Readonly<Record<string, unknown>> }

const START_MS = Date.UTC(2025, 0, 1)
const YEAR_MS = 31_536_000_000
const CITIES = [
  { city: 'Portland', state: 'OR', zipcode: 97205 },
  { city: 'Austin', state: 'TX', zipcode: 78701 },
  { city: 'Chicago', state: 'IL', zipcode: 60601 },
  { city: 'Boston', state: 'MA', zipcode: 2108 },
  { city: 'Denver', state: 'CO', zipcode: 80202 },
  { city: 'Raleigh', state: 'NC', zipcode: 27601 },
]
const REGIONS = Array.from({ length: 9 }, (_, at) => `Region_${at + 1}`)
const GENDERS = ['MALE', 'FEMALE', 'OTHER']

/** Generators of three quickstarts without a schema. They return the same records as the generator for all schemas. */
export const WRITTEN_BY_HAND = {
  orders(index, random) {
    const ordertime = START_MS + index * 1000
    let item = 1 + random.below(9)
    for (let digits = random.below(3); digits > 0; digits--) item = item * 10 + random.below(10)
    const orderunits = 0.1 + random.fraction() * 9.9
    const address = random.pick(CITIES)
    return { key: index, value: { ordertime, orderid: index, itemid: `Item_${item}`, orderunits, address } }
  },
  users(_index, random) {
    const registertime = Math.floor(START_MS + random.fraction() * YEAR_MS)
    const userid = `User_${1 + random.below(9)}`
    return {
      key: userid,
      value: { registertime, userid, regionid: random.pick(REGIONS), gender: random.pick(GENDERS) },
    }
  },
  pageviews(index, random) {
    const viewtime = 1 + index * 10
    const userid = `User_${1 + random.below(9)}`
    return { key: viewtime, value: { viewtime, userid, pageid: `Page_${1 + random.below(9)}${random.below(10)}` } }
  },
} as const satisfies Readonly<Record<string, Generate>>

export type HandWrittenName = keyof typeof WRITTEN_BY_HAND
