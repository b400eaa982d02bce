import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import { packagedHostDirectory } from '../../../java/java-runtime.ts'
import type { PluginSettings } from '../../settings.ts'
import type { ProcessPluginHostOptions } from './process-plugin-host.ts'

/** The limits on plugin processes that the worker's settings define. */
export function pluginLimits(values: PluginSettings): Omit<ProcessPluginHostOptions, 'logger' | 'clock' | 'access'> {
  return {
    pluginPath: values['plugin.path'],
    timeoutMs: values['worker.plugin.timeout.ms'],
    loadMsMax: values['worker.plugin.load.timeout.ms'],
    memoryMbMax: values['worker.plugin.memory.mb'],
    blockedMsMax: values['worker.thread.blocked.max.ms'],
    log: taskLogLimits(values),
    java: {
      discovery: values['plugin.discovery'],
      idleMs: values['java.host.idle.ms'],
      runtime: {
        home: values['java.home'],
        hostDirectory: values['java.host.directory'] || packagedHostDirectory(),
        heapMax: values['java.host.heap.max'],
        options: values['java.host.options'].split(/\s+/).filter((option) => option !== ''),
        log: taskLogLimits(values),
      },
    },
  }
}

/** The limits of what one task logs, wherever it runs. */
export function taskLogLimits(
  values: Pick<PluginSettings, 'worker.task.log.lines.per.second' | 'worker.task.log.bytes.per.second'>,
): LogLimits {
  return {
    linesPerSecond: values['worker.task.log.lines.per.second'],
    bytesPerSecond: values['worker.task.log.bytes.per.second'],
  }
}
