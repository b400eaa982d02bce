import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, inject, it } from 'vitest'
import type { Answer } from './host.ts'
import type { Address, PartName } from './parts.ts'

/** A real part as tests see it: where it is, or why this machine can't bring it. */
export type Real<Address> = {
  /** Throws where the part is missing: what uses it stands in `describeOn` or `itOn`. */
  readonly address: Address
  /** Undefined where the part is there. */
  readonly missing: string | undefined
}

/**
 * A real part, brought up on first need and shared by all tests of the run. With `CI` set a missing one is a failure,
 * because a suite that is always skipped tests nothing.
 *
 *     const kafka = await real('kafka')
 *     describeOn([kafka], '…', () => { … kafka.address.bootstrap … })
 */
export async function real<Name extends PartName>(name: Name): Promise<Real<Address<Name>>> {
  const found = await realWhereAMachineCan(name)
  if (found.missing !== undefined && process.env['CI']) throw new Error(found.missing)
  return found
}

/**
 * As `real`, for what not every machine of CI can bring either: a whole node needs root, control groups and namespaces. The
 * suite that stands on it is skipped and counted there, too. No other may: test/tidy.test.ts and count-tests.mjs keep to it.
 */
export async function realWhereAMachineCan<Name extends PartName>(name: Name): Promise<Real<Address<Name>>> {
  const { statusCode, body } = await ask(`${inject('envUrl')}/${name}`)
  if (statusCode !== 200) throw new Error(`${name} did not start: ${body}`)
  const answer = JSON.parse(body) as Answer
  if ('address' in answer) return { address: answer.address as Address<Name>, missing: undefined }
  const missing = `${name} can't be brought up here: ${answer.missing}`
  return {
    missing,
    get address(): never {
      throw new Error(missing)
    },
  }
}

/**
 * A suite that stands on real parts. Skipped for one reason only: this machine can't bring one of them (no Java, no Go, no
 * Python, no Docker), which the title says. Never in CI, where `real` has failed already; but what asked by
 * `realWhereAMachineCan`, which is counted.
 */
export function describeOn(parts: readonly Real<unknown>[], title: string, suite: () => void): void {
  const why = reasonOf(parts)
  if (why === undefined) describe(title, suite)
  else describe.skip(`${title} (${why})`, suite)
}

/** A test that stands on real parts: skipped for the reason of `describeOn`. `timeoutMs`: instead of the project's. */
export function itOn(
  parts: readonly Real<unknown>[],
  title: string,
  test: () => Promise<void>,
  timeoutMs?: number,
): void {
  const why = reasonOf(parts)
  if (why === undefined) it(title, test, timeoutMs)
  else it.skip(`${title} (${why})`, test)
}

function reasonOf(parts: readonly Real<unknown>[]): string | undefined {
  return parts.find(({ missing }) => missing !== undefined)?.missing
}

/** Waits for as long as it takes: a part may have to be built first, and fetch gives up after five minutes. */
function ask(url: string): Promise<{ readonly statusCode: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      text(response).then((body) => resolve({ statusCode: response.statusCode, body }), reject)
    }).once('error', reject)
  })
}
