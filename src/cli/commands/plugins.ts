import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commaSeparated } from '../../config/settings.ts'
import { settingsFromFile } from '../../config/settings-sources.ts'
import { packageVersion } from '../../config/version.ts'
import { listedName, namesOf } from '../../plugins/catalog.ts'
import type { PluginDescriptor } from '../../plugins/descriptor.ts'
import { renderReference } from '../../sdk/index.ts'
import { type LoadedPlugins, loadPlugins } from '../../worker/main.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { SCAFFOLD_KINDS, type ScaffoldKind, scaffoldPlugin } from '../plugins/plugin-scaffold.ts'
import { formatColumns } from '../terminal/columns.ts'

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'plugin-path': { type: 'string', multiple: true },
  config: { type: 'string' },
  json: { type: 'boolean' },
  kind: { type: 'string' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

export const pluginsCommand: Command = {
  help: `usage: weir plugins list [--plugin-path PATH]… [--config FILE] [--json]
       weir plugins describe NAME [--plugin-path PATH]… [--config FILE]
       weir plugins new NAME [--kind ${SCAFFOLD_KINDS.join('|')}]

Lists what connectors can be made of and says what is wrong with what could not be loaded; describes one plugin with all
its keys; begins a plugin of your own, with a test that passes.

  --plugin-path PATH  a module, an npm package, or a folder of those, as in plugin.path of a worker
  --config FILE       a worker's settings, whose plugin.path counts
  --json              the list as JSON`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [verb, name, ...more] = positionals
    if (more.length > 0) throw new UsageError(`weir plugins ${verb} takes one name, not also '${more[0]}'`)
    if (verb === 'list' && name === undefined) return list(await loadPlugins(pluginPath(values)), values.json === true)
    if (verb === 'describe' && name !== undefined) return describe(name, await loadPlugins(pluginPath(values)))
    if (verb === 'new' && name !== undefined) return create(name, kindOf(values.kind))
    throw new UsageError('what about plugins? weir plugins list, weir plugins describe NAME or weir plugins new NAME')
  },
}

function pluginPath({ 'plugin-path': paths = [], config }: Values): readonly string[] {
  const written = config === undefined ? [] : settingsFromFile(config)
  const ofWorker = written.findLast(({ key }) => key === 'plugin.path')?.value ?? ''
  return [...commaSeparated(ofWorker), ...paths]
}

function list({ catalog, faults }: LoadedPlugins, isJson: boolean): ExitCode {
  const entries = catalog.list()
  if (isJson) print(JSON.stringify({ plugins: entries, faults }, null, 2))
  else print(formatColumns(entries.map((entry) => [entry.type, entry.class, entry.version])))
  for (const { file, reason } of faults) process.stderr.write(`${file}: ${reason}\n`)
  return faults.length === 0 ? 0 : 1
}

function describe(name: string, { catalog }: LoadedPlugins): ExitCode {
  const all = catalog.list().flatMap((entry): readonly PluginDescriptor[] => {
    const plugin = catalog.find(entry.type, entry.class)
    return plugin === undefined ? [] : [plugin]
  })
  const found = all.filter((plugin) => catalog.find(plugin.kind, name) === plugin || bareName(plugin) === name)
  const [plugin, ...twins] = found
  if (plugin === undefined) {
    process.stderr.write(`there is no plugin '${name}': weir plugins list tells which there are\n`)
    return 1
  }
  const ofOneKind = twins.filter((twin) => twin.kind === plugin.kind && bareName(twin) === bareName(plugin))
  print(renderReference(plugin, ...ofOneKind).trimEnd())
  return 0
}

/** `Cast` of `Cast$Key` and `Cast$Value`. */
function bareName(plugin: PluginDescriptor): string | undefined {
  const name = namesOf(plugin)[0] ?? listedName(plugin)
  return name.replace(/\$.*/, '')
}

function kindOf(kind = 'source'): ScaffoldKind {
  const found = SCAFFOLD_KINDS.find((known) => known === kind)
  if (found !== undefined) return found
  throw new UsageError(`--kind ${kind}: expected one of ${SCAFFOLD_KINDS.join(', ')}`)
}

function create(name: string, kind: ScaffoldKind): ExitCode {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) {
    throw new UsageError(`'${name}' is no name of a plugin: expected one like TemperatureSource`)
  }
  const { folder, files } = scaffoldPlugin(name, kind, packageVersion())
  if (existsSync(folder)) {
    process.stderr.write(`${folder} is there already\n`)
    return 1
  }
  mkdirSync(folder)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  print(`${folder}: ${Object.keys(files).join(', ')}
Its test: cd ${folder} && npm install && npm test
In a worker: plugin.path=${folder}`)
  return 0
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
