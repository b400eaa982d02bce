import { partDirectory } from '../../env/workspace.ts'
import type { Figure } from '../figures.ts'
import { cpuMs } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { sidesOn } from '../worker/sides.ts'
import type { PluginDirectories } from './cases.ts'

const STARTS = 5

/** Measures the start of a worker without Java plugins, with and without directories in `plugin.path`. */
export async function measureStarts(settings: Settings, plugins: PluginDirectories): Promise<readonly Figure[]> {
  progress('java-plugins: starts')
  const [ours] = sidesOn(settings)
  const without: Start[] = []
  const empty: Start[] = []
  const described: Start[] = []
  const start = async (own: Readonly<Record<string, string>>) => {
    const startMs = performance.now()
    const worker = await ours.start(own)
    const ms = performance.now() - startMs
    const cpu = await cpuMs(worker.pid)
    await worker.stop()
    return { ms, cpu }
  }
  const emptyPath = { 'plugin.path': partDirectory('empty') }
  const javaPath = { 'plugin.path': plugins.pluginPath, 'java.host.directory': plugins.hostDirectory }
  await start({})
  for (let round = 0; round < STARTS; round++) {
    without.push(await start({}))
    empty.push(await start(emptyPath))
    described.push(await start(javaPath))
  }
  const figure = (name: string, what: keyof Start, starts: readonly Start[], aim: number): Figure => ({
    name,
    unit: 'ms',
    ours: starts.map((one) => one[what]),
    against: { name: 'without plugin.path', values: without.map((one) => one[what]) },
    aim,
  })
  return [
    figure('start, empty plugin.path', 'ms', empty, 1.05),
    figure('start, empty plugin.path, CPU time', 'cpu', empty, 1.05),
    figure('start, both plugins described before', 'ms', described, 1.25),
    figure('start, both plugins described before, CPU time', 'cpu', described, 1.25),
  ]
}

type Start = { readonly ms: number; readonly cpu: number }
