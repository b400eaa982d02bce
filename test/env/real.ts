import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, inject, it } from 'vitest'
import type { Answer } from './host.ts'
import type { Address, PartName } from './parts.ts'

/** A part as tests use it: its address, or the reason why this machine cannot provide it. */
export type Real<Address> = {
  /** Throws if the part is missing, so use it only inside `describeOn` or `itOn`. */
  readonly address: Address
  /** The reason why the part is missing; undefined if it is available. */
  readonly missing: string | undefined
}

/**
 * Requests a part, which is started on first use and shared by all tests of the run. With `CI` set, a missing part is
 * an error, because a suite that is always skipped tests nothing.
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
 * Like `real`, for parts that some CI machines cannot provide: a node needs root, control groups and namespaces. Suites
 * that use it are skipped and counted in CI, too. test/tidy.test.ts and count-tests.mjs allow no other exception.
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
 * Defines a suite that depends on parts. It is skipped only if this machine cannot provide one of them (for example
 * without Java, Go, Python or Docker); the title then includes the reason. In CI only parts from `realWhereAMachineCan`
 * can be missing, and the skip is counted; for others, `real` has already failed.
 */
export function describeOn(parts: readonly Real<unknown>[], title: string, suite: () => void): void {
  const why = reasonOf(parts)
  if (why === undefined) describe(title, suite)
  // The machine cannot provide a part; the title says which one and why. With `CI` set, `real` has thrown before.
  else describe.skip(`${title} (${why})`, suite)
}

/** Defines a test that depends on parts and is skipped as in `describeOn`. `timeoutMs` overrides the default. */
export function itOn(
  parts: readonly Real<unknown>[],
  title: string,
  test: () => Promise<void>,
  timeoutMs?: number,
): void {
  const why = reasonOf(parts)
  if (why === undefined) it(title, test, timeoutMs)
  // The machine cannot provide a part; the title says which one and why. With `CI` set, `real` has thrown before.
  else it.skip(`${title} (${why})`, test)
}

function reasonOf(parts: readonly Real<unknown>[]): string | undefined {
  return parts.find(({ missing }) => missing !== undefined)?.missing
}

/** Waits without a timeout, because a part may have to be built first; `fetch` times out after 5 min. */
function ask(url: string): Promise<{ readonly statusCode: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      text(response).then((body) => resolve({ statusCode: response.statusCode, body }), reject)
    }).once('error', reject)
  })
}
