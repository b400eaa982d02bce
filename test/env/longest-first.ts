import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that run for more than 50 s, and those of the fast suite that run for more than 1 s, the longest first.
 * `test/tidy-tests.test.ts` checks that they exist. They start first, so that the run does not end with one of them
 * alone. Vitest orders files by their durations in earlier runs, which a clean checkout does not have, or else by their
 * sizes.
 */
export const LONGEST_FILES: readonly string[] = [
  'test/e2e/node-cluster.test.ts',
  'test/e2e/operator-runtime-failures.test.ts',
  'test/e2e/image-java.test.ts',
  'test/e2e/worker-chaos.test.ts',
  'test/e2e/worker-takeover.test.ts',
  'test/e2e/docs.test.ts',
  'test/e2e/attacks/requests.test.ts',
  'test/e2e/java/bad-plugins.test.ts',
  'test/e2e/attacks/task-threads.test.ts',
  'test/e2e/operator.test.ts',
  'test/e2e/charts-secured.test.ts',
  'test/e2e/registry-archive.test.ts',
  'test/e2e/worker-group.test.ts',
  'test/e2e/image.test.ts',
  'test/e2e/operator/connector.test.ts',
  'test/e2e/attacks/damaged-topic.test.ts',
  'test/e2e/java/debezium-kills.test.ts',
  'test/e2e/java/exactly-once.test.ts',
  'test/e2e/up.test.ts',
  'test/e2e/worker-exactly-once.test.ts',
  'test/e2e/file-pipe.test.ts',
  'test/e2e/release.test.ts',
  'test/e2e/operator-configuration.test.ts',
  'test/broker/contract-embedded.test.ts',
  'test/http/limit-settings.test.ts',
  'test/cli/archive/round-trip.test.ts',
  'test/registry/security.test.ts',
  'test/worker/tasks/worker-sink-task.test.ts',
  'test/registry/leadership/leader-election.test.ts',
  'test/operator/active-operator.test.ts',
  'test/console/routes/console-routes.test.ts',
  'test/cli/commands/damaged-input.test.ts',
  'test/plugins/converters/confluent.test.ts',
]

/** Keeps the order of projects, and starts the longest files of each first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b))
  }
}

const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST_FILES.findIndex((file) => moduleId.endsWith(`/${file}`))
  return rank === -1 ? LONGEST_FILES.length : rank
}
