import { expect } from 'vitest'

expect.addEqualityTesters([
  // Without this, `toMatchObject({ message: /…/ })` accepts every message: a RegExp has no enumerable properties to compare.
  // `expect.stringMatching(/…/)` is required instead.
  (actual, expected) => (expected instanceof RegExp && !(actual instanceof RegExp) ? false : undefined),
  // Vitest lists the indexes of all bytes as keys, which takes 0.3 s per megabyte.
  (actual, expected) => {
    if (!(actual instanceof Uint8Array && expected instanceof Uint8Array)) return undefined
    return actual.constructor === expected.constructor ? Buffer.compare(actual, expected) === 0 : undefined
  },
])
