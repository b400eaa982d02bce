import fc from 'fast-check'

const { PROPERTY_SEED = '20261121', PROPERTY_FACTOR = '1' } = process.env

/** All runs test the same cases, so failures are reproducible. `PROPERTY_SEED=random` tests new cases. */
export const SEED = PROPERTY_SEED === 'random' ? Date.now() % 2 ** 31 : Number(PROPERTY_SEED)

/**
 * The number of cases of a property. `PROPERTY_FACTOR=10` tests ten times as many. `npm run test:fast` tests a fifth,
 * `npm test` all of them.
 */
export const propertyRuns = (runs: number): number => Math.ceil(runs * Number(PROPERTY_FACTOR))

fc.configureGlobal({ seed: SEED, numRuns: propertyRuns(100) })
