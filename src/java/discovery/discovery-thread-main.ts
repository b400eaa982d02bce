import { parentPort, workerData } from 'node:worker_threads'
import { discoverJavaPlugins } from './discover-plugins.ts'
import { DiscoveryCache } from './discovery-cache.ts'
import type { DiscoveryThreadData, DiscoveryThreadMessage } from './discovery-thread.ts'

// Entry point of the thread that finds Java plugins, which `discovery-thread.ts` starts.

const { pluginPath, mode, cacheDirectory } = workerData as DiscoveryThreadData
const send = (message: DiscoveryThreadMessage) => parentPort?.postMessage(message)

const discovery = await discoverJavaPlugins(pluginPath, mode, new DiscoveryCache(cacheDirectory), (progress) =>
  send({ type: 'progress', progress }),
)
send({ type: 'found', discovery })
