import fc from 'fast-check'

// Every run tries the same cases, so that one never fails by chance; PROPERTY_SEED=random looks for new ones.
const { PROPERTY_SEED = '20261121' } = process.env
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED) })
