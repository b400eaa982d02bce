import { expect, it } from 'vitest'
import type { KubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { decideDeletion, decideWrite } from '../../../src/operator/admission/admission-decision.ts'
import type { WriteRequest } from '../../../src/operator/admission/admission-review.ts'
import { TerminalError } from '../../../src/operator/controller/reconcile-error.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'

const ALLOWED = { allowed: true, warnings: [] }
const HARD_DELETE = { schema: '"int"', deletionPolicy: 'HardDelete' }

/** A runtime that rejects every dry run, and an API server that decides about permissions. */
function dependenciesThat({ permit }: { readonly permit: boolean }) {
  const dryRunner = {
    runtime: 'Registry' as const,
    dryRun: () => Promise.reject(new TerminalError('Incompatible', 'the schema is incompatible')),
  }
  return {
    cluster: new FakeCluster(),
    clock: new FakeClock(),
    logger: silentLogger(),
    dryRunners: () => ({ Subject: dryRunner, RegistryMode: dryRunner, Connector: dryRunner }),
    api: { send: (async () => ({ status: { allowed: permit } })) as KubernetesApi['send'] },
  }
}

const requestFor = (spec: object, deletionTimestamp?: string) =>
  ({
    kind: 'Subject',
    object: { metadata: { name: 'orders', namespace: 'shop', generation: 1, deletionTimestamp }, spec },
    by: { username: 'jo' },
  }) as unknown as WriteRequest

it('checks the permission for a write before the dry run', async () => {
  const decide = (permit: boolean) => decideWrite(requestFor(HARD_DELETE), dependenciesThat({ permit }))
  expect(await decide(false)).toMatchObject({ allowed: false, reason: 'Forbidden' })
  expect(await decide(true)).toMatchObject({ allowed: false, reason: 'Incompatible' })
})

it('checks only the permission for a write to an object that is being deleted', async () => {
  const proposed = requestFor(HARD_DELETE, '2026-01-02T00:00:00Z')
  expect(await decideWrite(proposed, dependenciesThat({ permit: true }))).toEqual(ALLOWED)
  expect(await decideWrite(proposed, dependenciesThat({ permit: false }))).toMatchObject({ reason: 'Forbidden' })
})

it('checks only the permission for a deletion', async () => {
  const decide = (permit: boolean) => decideDeletion(requestFor(HARD_DELETE), dependenciesThat({ permit }))
  expect(await decide(true)).toEqual(ALLOWED)
  expect(await decide(false)).toMatchObject({ allowed: false, reason: 'Forbidden' })
})
