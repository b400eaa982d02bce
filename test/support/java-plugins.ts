import { linkSync, readFileSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect } from 'vitest'
import type { MavenPluginAddress } from '../env/maven-plugin.ts'
import { runWeir } from './cli.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { WorkerGroup } from './worker-group.ts'

export type JavaWorkerOptions = {
  readonly bootstrap: string
  /** The value of `java.host.directory`. */
  readonly hostDirectory: string
  readonly plugins: MavenPluginAddress
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts a worker process with plugins from Maven Central. It is stopped at the end of the test. */
export async function startJavaWorker({ bootstrap, hostDirectory, plugins, settings }: JavaWorkerOptions) {
  const group = new WorkerGroup(bootstrap, {
    'plugin.path': await installPlugins(plugins, hostDirectory),
    'java.host.directory': hostDirectory,
    'java.host.heap.max': '256m',
    'offset.flush.interval.ms': '500',
    'worker.threads': '2',
    ...settings,
  })
  return { group, worker: await group.startOne() }
}

/**
 * Installs plugins with `weir plugins install`, each in a location of its own. Returns the plugin path. `directory`: that
 * of the plugin path; absent: one that is removed at the end of the test.
 */
export async function installPlugins(
  address: MavenPluginAddress,
  hostDirectory: string,
  directory = temporaryDirectory(),
): Promise<string> {
  const pluginPath = join(directory, 'plugins')
  const config = join(directory, 'java-host.properties')
  writeFileSync(config, `java.host.directory=${hostDirectory}\n`)
  for (const plugin of address.plugins) {
    const args = ['plugins', 'install', plugin, '--plugin-path', pluginPath, '--repository', address.repository]
    args.push('--config', config)
    const { code, stderr } = await runWeir(directory, ...args)
    expect(code, stderr).toBe(0)
  }
  const [, artifact, version] = address.plugins[0]!.split(':')
  const first = join(pluginPath, `${artifact}-${version}`)
  await Promise.all(address.extraJars.map((jar) => link(jar, join(first, basename(jar)))))
  return pluginPath
}

/** A hard link, because some of these files are large; a copy in another file system. */
async function link(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to)
  } catch {
    await copyFile(from, to)
  }
}

/** The process ids of the JVMs that a worker started, with the locations that they serve. */
export function javaHostsOf(worker: number): readonly { readonly pid: number; readonly location: string }[] {
  const children = readFileSync(`/proc/${worker}/task/${worker}/children`, 'utf8').trim().split(' ')
  return children.flatMap((pid) => {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
    return args.includes('dev.weir.host.Main') ? [{ pid: Number(pid), location: args.at(-1)! }] : []
  })
}

/** Kills the JVM of the location whose path contains `name`. */
export function killJavaHost(worker: number, name: string): void {
  const found = javaHostsOf(worker).find(({ location }) => location.includes(name))
  if (found === undefined) throw new Error(`no JVM serves ${name}`)
  process.kill(found.pid, 'SIGKILL')
}
