import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { subjectUses, topicUses, type WorkerTopicUse } from '../../common/topic-use.ts'
import { type LiveQuery, useOnDemandQuery } from './queries.ts'
import type { Runtime } from './session.ts'
import type { ExpandedConnectors } from './wire.ts'

/** What the connectors of all workers use. It is read once, because it changes rarely and can be large. */
export function useSubjectUses(workers: readonly Runtime[]) {
  const queries = workers.map(
    ({ basePath }): WorkerTopics => ({
      connectors: useOnDemandQuery<ExpandedConnectors>(`${basePath}/connectors?expand=info`),
      used: useOnDemandQuery<WorkerTopicUse>(`${basePath}/ui/api/connector-topics`),
    }),
  )
  return useMemo(
    () =>
      computed(() =>
        subjectUses(queries.flatMap(({ connectors, used }) => topicUses(connectors.data.value ?? {}, used.data.value))),
      ),
    queries.flatMap(({ connectors, used }) => [connectors, used]),
  )
}

type WorkerTopics = { readonly connectors: LiveQuery<ExpandedConnectors>; readonly used: LiveQuery<WorkerTopicUse> }
