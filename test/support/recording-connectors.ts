import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileJava } from '../env/javac.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const SOURCE_FILE = join(import.meta.dirname, 'java/RecordingConnectors.java')

/** The Java classes of `RecordingConnectors.java`. */
export const NUMBERS = 'dev.weir.test.RecordingConnectors$Numbers'
export const COMMANDS = 'dev.weir.test.RecordingConnectors$Commands'
export const VAULT = 'dev.weir.test.RecordingConnectors$Vault'

/** Compiles the recording plugins to a plugin path with one location, and returns where their events are written. */
export async function compileRecordingConnectors(classpath: string) {
  const directory = temporaryDirectory()
  const pluginPath = join(directory, 'plugins')
  const location = join(pluginPath, 'recording')
  mkdirSync(location, { recursive: true })
  await compileJava([SOURCE_FILE], { classpath, directory: location })
  // Config providers are found by manifests only.
  mkdirSync(join(location, 'META-INF/services'), { recursive: true })
  writeFileSync(
    join(location, 'META-INF/services/org.apache.kafka.common.config.provider.ConfigProvider'),
    `${VAULT}\n`,
  )
  const file = (name: string) => join(directory, name)
  return { pluginPath, location, file, events: (name: string) => linesOf(file(name)) }
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

/** The ids of the JVMs that a worker, by default in this process, has started for a location. */
export function hostProcesses(location: string, worker = process.pid): readonly number[] {
  const children = readFileSync(`/proc/${worker}/task/${worker}/children`, 'utf8').trim().split(' ')
  return children.filter((pid) => commandLineOf(pid).endsWith(`${location}\0`)).map(Number)
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}
