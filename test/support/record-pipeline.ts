import { type RawConfig, UNRESTRICTED } from '../../src/sdk/index.ts'
import { RecordPipeline } from '../../src/worker/tasks/record-pipeline.ts'
import { shippedCatalog } from './shipped-plugins.ts'
import { TASK_DEFAULTS } from './task.ts'

/** Opens the pipeline of a task with the plugins that ship. */
export function openTestPipeline(kind: 'source' | 'sink', config: RawConfig): Promise<RecordPipeline> {
  const spec = { connector: 'c', task: 0, kind, config, secrets: [], worker: TASK_DEFAULTS, paused: false, offsets: [] }
  const { signal } = new AbortController()
  return RecordPipeline.open({ spec, plugins: shippedCatalog(), access: UNRESTRICTED, remote: undefined, signal })
}
