import fc from 'fast-check'

const { PROPERTY_SEED = '20261121' } = process.env

/** All runs test the same cases, so failures are reproducible. `PROPERTY_SEED=random` tests new cases. */
export const SEED = PROPERTY_SEED === 'random' ? Date.now() % 2 ** 31 : Number(PROPERTY_SEED)

fc.configureGlobal({ seed: SEED })
