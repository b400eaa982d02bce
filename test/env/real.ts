import { inject } from 'vitest'
import type { Answer } from './host.ts'
import type { Address, PartName } from './parts.ts'

/**
 * The address of a real part, brought up on first need and shared by all tests of the run; undefined where this machine
 * can't bring it. With `CI` set that is a failure, because a suite that is always skipped tests nothing.
 *
 *     const kafka = await real('kafka')
 *     describe.skipIf(!kafka)('…', () => { … kafka!.bootstrap … })
 */
export async function real<Name extends PartName>(name: Name): Promise<Address<Name> | undefined> {
  const response = await fetch(`${inject('envUrl')}/${name}`)
  if (!response.ok) throw new Error(`${name} did not start: ${await response.text()}`)
  const answer = (await response.json()) as Answer
  if ('address' in answer) return answer.address as Address<Name>
  if (process.env['CI']) throw new Error(`${name} can't be brought up here: ${answer.missing}`)
  return undefined
}
