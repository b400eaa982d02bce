import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../../common/errors.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { DiscoveryMode, DiscoveryProgress, JavaDiscovery } from './discover-plugins.ts'
import { mayHaveJavaLocations } from './plugin-locations.ts'

/** What the thread is started with. */
export type DiscoveryThreadData = {
  readonly pluginPath: readonly string[]
  readonly mode: DiscoveryMode
  readonly cacheDirectory: string
}

/** What the thread sends: progress, then the result. */
export type DiscoveryThreadMessage =
  | { readonly type: 'progress'; readonly progress: DiscoveryProgress }
  | { readonly type: 'found'; readonly discovery: JavaDiscovery }

/** Limit of the thread's heap: twice what the jars of a location with the maximum of entries need. */
const HEAP_MB_MAX = 1_024

/**
 * Finds the Java plugins of `plugin.path` in a thread, because walking directories, hashing and scanning jars would block
 * this one for as long as the file system takes. Starts no thread when nothing on the path can be a Java plugin. When
 * the thread fails, no Java plugin is found, and the location that it was reading is a fault.
 */
export async function discoverInThread(
  data: DiscoveryThreadData,
  onProgress: (progress: DiscoveryProgress) => void,
): Promise<JavaDiscovery> {
  if (!mayHaveJavaLocations(data.pluginPath)) return { locations: [], faults: [] }
  const thread = new Worker(entryPoint('java/discovery/discovery-thread-main'), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  })
  const found = Promise.withResolvers<JavaDiscovery>()
  let file = data.pluginPath.join()
  thread.on('message', (message: DiscoveryThreadMessage) => {
    if (message.type === 'found') return found.resolve(message.discovery)
    file = message.progress.location
    onProgress(message.progress)
  })
  const ended = once(thread, 'exit').then(([code]) => `the thread ended with exit code ${code}`, messageOf)
  const failed = ended.then((reason): JavaDiscovery => {
    const fault = { file, reason: `the search for Java plugins ended here, and found none: ${reason}` }
    return { locations: [], faults: [fault] }
  })
  try {
    return await Promise.race([found.promise, failed])
  } finally {
    await thread.terminate()
  }
}
