import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { packageVersion } from '../../common/package-version.ts'
import { commaSeparated, type Setting } from '../../config/settings.ts'
import { settingsFromFile } from '../../config/settings-sources.ts'
import { packagedHostDirectory } from '../../java/java-runtime.ts'
import { MAVEN_CENTRAL } from '../../java/maven/coordinates.ts'
import { type CatalogEntry, listedName, pluginNames } from '../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import { renderReference } from '../../sdk/index.ts'
import { type LoadedPlugins, loadPlugins } from '../../worker/main.ts'
import {
  type Command,
  type ExitCode,
  expectNoMore,
  orMeant,
  parseArguments,
  parseVerb,
  UsageError,
} from '../command.ts'
import { installJavaPlugins } from '../plugins/install-java-plugins.ts'
import { SCAFFOLD_KINDS, type ScaffoldKind, scaffoldPlugin } from '../plugins/plugin-scaffold.ts'
import { formatColumns } from '../terminal/columns.ts'
import { printableText } from '../terminal/printable-text.ts'

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'plugin-path': { type: 'string', multiple: true },
  config: { type: 'string' },
  json: { type: 'boolean' },
  kind: { type: 'string' },
  repository: { type: 'string', multiple: true },
  settings: { type: 'string' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

export const pluginsCommand: Command = {
  help: `usage: weir plugins list [--plugin-path PATH]… [--config FILE] [--json]
       weir plugins describe NAME [--plugin-path PATH]… [--config FILE]
       weir plugins install GROUP:ARTIFACT:VERSION… [--plugin-path DIR] [--config FILE] [--repository URL]… [--settings FILE]
       weir plugins new NAME [--kind ${SCAFFOLD_KINDS.join('|')}]

list prints all connectors, converters, transforms and predicates that a worker would find, and why a plugin could not be
loaded. A Java class that cannot be loaded is a warning, as in Kafka Connect, and does not change the exit code. describe prints the configuration reference of one plugin. install downloads Java plugins with their dependencies from
Maven repositories, each into a directory of its own, and verifies the checksums; it needs Java and the Java host. new creates a plugin of your own with a test that
passes.

  --plugin-path PATH  a module, an npm package, a jar, or a directory of those, as in a worker's plugin.path;
                      for install, the directory to install to; default: the first one of --config, or plugins
  --config FILE       a worker's settings file, to use its plugin.path and the keys about plugins and Java
  --kind KIND         kind of the new plugin; default: source
  --repository URL    a Maven repository, also several, or ID::URL for the ID that it has in settings.xml; default: the
                      environment variable MAVEN_REPOSITORY, or else Maven Central
  --settings FILE     Maven's settings.xml with mirrors, credentials and proxies; default: ~/.m2/settings.xml
  --json              print the list as JSON

Exit codes: 0 done, 1 a plugin does not exist or cannot be loaded or installed, 2 wrong usage, 3 the repository is unavailable.

  weir plugins describe FileStreamSink`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [word, name, ...more] = positionals
    const usage = 'weir plugins list, describe NAME, install GROUP:ARTIFACT:VERSION or new NAME'
    const verb = parseVerb('plugins', word, ['list', 'describe', 'install', 'new'], usage)
    if (verb === 'install' && name !== undefined) return install([name, ...more], values)
    expectNoMore(verb === 'list' ? positionals.slice(1) : more, usage)
    if (verb === 'list') return list(await load(values), values.json === true)
    if (verb === 'describe' && name !== undefined) return describe(name, await load(values))
    if (verb === 'new' && name !== undefined) return create(name, kindOf(values.kind))
    throw new UsageError(`expected ${usage}`)
  },
}

function install(plugins: readonly string[], values: Values): Promise<ExitCode> {
  const { repository, settings } = values
  if (settings !== undefined && !existsSync(settings))
    throw new UsageError(`--settings ${settings}: there is no such file`)
  const setting = (key: string) => settingsOf(values).findLast((one) => one.key === key)?.value ?? ''
  return installJavaPlugins({
    plugins,
    repositories: repository ?? [process.env['MAVEN_REPOSITORY'] || MAVEN_CENTRAL],
    settingsFile: settings ?? join(homedir(), '.m2/settings.xml'),
    pluginPath: installDirectory(values),
    javaHome: setting('java.home'),
    hostDirectory: setting('java.host.directory') || packagedHostDirectory(),
  })
}

function load(values: Values): Promise<LoadedPlugins> {
  return loadPlugins(pluginPath(values), settingsOf(values))
}

function settingsOf({ config }: Values): readonly Setting[] {
  return config === undefined ? [] : settingsFromFile(config)
}

function pluginPath(values: Values): readonly string[] {
  const { 'plugin-path': paths = [] } = values
  const settings = settingsOf(values)
  const workerPath = settings.findLast(({ key }) => key === 'plugin.path')?.value ?? ''
  return [...commaSeparated(workerPath), ...paths]
}

function installDirectory(values: Values): string {
  const [given, ...others] = values['plugin-path'] ?? []
  if (others.length > 0)
    throw new UsageError('weir plugins install installs into one directory: give one --plugin-path')
  return given ?? pluginPath(values)[0] ?? 'plugins'
}

function list({ catalog, faults }: LoadedPlugins, isJson: boolean): ExitCode {
  const entries = catalog.list()
  if (isJson) print(JSON.stringify({ plugins: entries, faults }, null, 2))
  else print(formatColumns(entries.map((entry) => [entry.type, entry.class, entry.version, originOf(entry)])))
  printFaults(faults)
  return faults.every(({ isWarning }) => isWarning) ? 0 : 1
}

function printFaults(faults: LoadedPlugins['faults']): void {
  for (const { file, reason, isWarning } of faults)
    process.stderr.write(`${isWarning ? 'warning: ' : ''}${file}: ${reason}\n`)
}

/** Where a plugin was installed, and which shipped one it replaces. */
function originOf({ location, replaces }: CatalogEntry): string {
  if (location === undefined) return ''
  return replaces === undefined ? location : `${location} (instead of the shipped ${replaces})`
}

function describe(name: string, { catalog, faults }: LoadedPlugins): ExitCode {
  const all = catalog.list().flatMap((entry): readonly PluginDescriptor[] => {
    const plugin = catalog.find(entry.type, entry.class)
    return plugin === undefined ? [] : [plugin]
  })
  const found = all.filter((plugin) => catalog.find(plugin.kind, name) === plugin || bareName(plugin) === name)
  const [plugin, ...others] = found
  if (plugin === undefined) {
    const names = all.flatMap((one) => [bareName(one), ...pluginNames(one)]).filter((known) => known !== undefined)
    const hint = orMeant(name, names, 'weir plugins list shows all plugins')
    // It may be in a file that cannot be loaded.
    printFaults(faults)
    process.stderr.write(`weir: plugin '${printableText(name)}' not found: ${hint}\n`)
    return 1
  }
  const variants = others.filter((other) => other.kind === plugin.kind && bareName(other) === bareName(plugin))
  print(renderReference(plugin, ...variants).trimEnd())
  return 0
}

/** `Cast` for `Cast$Key` and `Cast$Value`. */
function bareName(plugin: PluginDescriptor): string | undefined {
  const name = pluginNames(plugin)[0] ?? listedName(plugin)
  return name.replace(/\$.*/, '')
}

function kindOf(kind = 'source'): ScaffoldKind {
  const found = SCAFFOLD_KINDS.find((known) => known === kind)
  if (found !== undefined) return found
  throw new UsageError(`--kind ${kind}: expected one of ${SCAFFOLD_KINDS.join(', ')}`)
}

function create(name: string, kind: ScaffoldKind): ExitCode {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) {
    throw new UsageError(`'${name}' is not a valid plugin name: expected one like TemperatureSource`)
  }
  const { folder, files } = scaffoldPlugin(name, kind, packageVersion())
  if (existsSync(folder)) {
    process.stderr.write(`${folder} already exists\n`)
    return 1
  }
  mkdirSync(folder)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  print(`${folder}: ${Object.keys(files).join(', ')}
Run its test: cd ${folder} && npm install && npm test
Use it in a worker: plugin.path=${folder}`)
  return 0
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
