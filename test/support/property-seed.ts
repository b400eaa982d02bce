import fc from 'fast-check'

const { PROPERTY_SEED = '20261121' } = process.env

/** Every run tries the same cases, so that one never fails by chance; `PROPERTY_SEED=random` looks for new ones. */
export const SEED = PROPERTY_SEED === 'random' ? Date.now() % 2 ** 31 : Number(PROPERTY_SEED)

fc.configureGlobal({ seed: SEED })
