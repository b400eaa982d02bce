import { get } from 'node:http'
import { text } from 'node:stream/consumers'
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
  const { statusCode, body } = await ask(`${inject('envUrl')}/${name}`)
  if (statusCode !== 200) throw new Error(`${name} did not start: ${body}`)
  const answer = JSON.parse(body) as Answer
  if ('address' in answer) return answer.address as Address<Name>
  if (process.env['CI']) throw new Error(`${name} can't be brought up here: ${answer.missing}`)
  return undefined
}

/** Waits for as long as it takes: a part may have to be built first, and fetch gives up after five minutes. */
function ask(url: string): Promise<{ readonly statusCode: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      text(response).then((body) => resolve({ statusCode: response.statusCode, body }), reject)
    }).once('error', reject)
  })
}
