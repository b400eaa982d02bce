import type { Mutation } from './source-mutation.ts'

/** Faults made by hand, each of which its world must find. `npm run simulate -- --mutation NAME` shows how. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'id-from-stale-state',
    world: 'registry',
    seed: 4,
    fault: 'A write is decided on the state before the writes that it waited for.',
    edits: [
      {
        file: 'src/registry/registry.ts',
        from: 'view.revision === revision ? early : await decideNow()',
        to: 'early',
      },
    ],
  },
  {
    name: 'finalizer-removed-first',
    world: 'operator',
    seed: 13,
    fault: 'The finalizer of a Connector is removed before the worker has deleted the connector.',
    edits: [
      {
        file: 'src/operator/connector/connector-deletion.ts',
        from: '  await undefinedIfNotFound(worker.delete(name))\n  return pending',
        to: '  worker.delete(name).catch(() => undefined)\n  return done',
      },
    ],
  },
  {
    name: 'ready-before-applied',
    world: 'operator',
    seed: 1,
    fault: 'A Connector counts as applied without a comparison with the configuration that the worker has.',
    edits: [
      {
        file: 'src/operator/connector/plan-connector.ts',
        from: 'const changed = changedKeys(desired, observed)',
        to: 'const changed: string[] = []',
      },
    ],
  },
  {
    name: 'retry-without-sequence',
    world: 'worker',
    seed: 10,
    fault: 'A batch is retried with a new sequence number, so that the broker does not recognize it.',
    edits: [
      {
        file: 'src/broker/producer/sender.ts',
        from: 'queue.retries.push({ ...batch, mayBeStored: error.retriable })',
        to: [
          'const baseSequence = queue.nextSequence',
          'queue.nextSequence += batch.entries.length',
          'queue.retries.push(this.#build(batch.entries, batch.size, baseSequence))',
        ].join('\n'),
      },
    ],
  },
  {
    name: 'answer-before-read',
    world: 'registry',
    seed: 11,
    fault: 'An instance answers a forwarded write before it has read what the leader wrote.',
    edits: [
      {
        file: 'src/registry/routes/route-context.ts',
        from: 'if (status < 300) await registry.refresh(operation)',
        to: '',
      },
    ],
  },
  {
    name: 'restart-not-recorded',
    world: 'operator',
    seed: 1,
    fault: 'A requested restart is not recorded in the status, so that it happens with each reconcile.',
    edits: [
      {
        file: 'src/operator/connector/plan-connector.ts',
        from: "planSteps('Restarting', message, steps, { lastHandledRestart: token })",
        to: "planSteps('Restarting', message, steps, {})",
      },
    ],
  },
  {
    name: 'write-without-fence',
    world: 'registry',
    seed: 17,
    fault: 'The leader writes with a producer of its own instead of the one that fences earlier leaders.',
    edits: [
      {
        file: 'src/registry/store/schemas-topic.ts',
        from: 'broker.producer({ identity, ...limits, missingTopicMs: 0 })',
        to: 'broker.producer({ ...limits, missingTopicMs: 0 })',
      },
    ],
  },
  {
    name: 'lease-without-fencing',
    world: 'operator',
    seed: 74,
    fault: 'An operator writes without a check that its lease is still valid.',
    edits: [
      {
        file: 'src/operator/controller/leader-elector.ts',
        from: '    term.signal.throwIfAborted()\n    if (this.#sinceRenewalMs() + ms > LEASE_MS) throw',
        to: '    if (term.signal.aborted && ms < 0) throw',
      },
    ],
  },
  {
    name: 'offset-before-acknowledgement',
    world: 'worker',
    seed: 5,
    fault: 'The offset of a source record is committed before the broker has acknowledged the record.',
    edits: [
      {
        file: 'src/worker/tasks/at-least-once-delivery.ts',
        from: 'const acknowledge = this.#prefix.add(batch.progress)',
        to: 'const acknowledge = this.#prefix.add(batch.progress)\n    acknowledge()\n    void this.commit()',
      },
    ],
  },
  {
    name: 'stored-by-former-leader',
    world: 'worker',
    seed: 15,
    fault: 'A worker that has lost its leadership during a validation stores the connector.',
    edits: [
      {
        file: 'src/worker/herder/herder.ts',
        from: 'assertLeader()\n    await this.#services.configs.putConnector(name, config, target)',
        to: 'toString()\n    await this.#services.configs.putConnector(name, config, target)',
      },
    ],
  },
  {
    name: 'generation-not-compared',
    world: 'worker',
    seed: 37,
    fault:
      'A late status of an earlier owner replaces that of the next one, because their generations are not compared.',
    edits: [
      {
        file: 'src/worker/stores/status-state.ts',
        from: '  return known.worker_id === next.worker_id\n    ? known.generation > next.generation',
        to: '  return known.worker_id === next.worker_id || next.worker_id !== ""\n    ? false',
      },
    ],
  },
]
