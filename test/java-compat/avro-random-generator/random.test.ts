import { describe, expect, it } from 'vitest'
import { randomAt } from '../../../src/java-compat/avro-random-generator/random.ts'

describe('the random numbers of a record', () => {
  it.each([
    [0, 0, [9, 3_653_585_622, 0.7166393242365611, 233_204_724, 0]],
    [7, 1, [4, 4_188_641_909, 0.028479434413413163, 555_661_182, 0]],
    [-3, 2 ** 31, [5, 1_748_282_588, 0.5164579316309309, 1_057_033_423, 0]],
    [2 ** 31 - 1, 2 ** 40 + 5, [9, 3_342_486_925, 0.4321592301207332, 460_071_065, 0]],
  ])('are those of earlier versions, for seed %d and record %d', (seed, index, expected) => {
    const random = randomAt(seed, index)
    const drawn = [
      random.below(10),
      random.below(2 ** 32),
      random.fraction(),
      random.below(2 ** 31 + 1),
      random.below(1),
    ]
    expect(drawn).toEqual(expected)
  })
})
