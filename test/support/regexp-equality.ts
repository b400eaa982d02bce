import { expect } from 'vitest'

// Without this, `toMatchObject({ message: /…/ })` accepts every message: a RegExp has no enumerable properties to compare.
// `expect.stringMatching(/…/)` is required instead.
expect.addEqualityTesters([
  (actual, expected) => (expected instanceof RegExp && !(actual instanceof RegExp) ? false : undefined),
])
