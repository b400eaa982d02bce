import { systemClock } from '../../common/clock.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import type { Setting } from '../../config/settings.ts'
import { ConfigResolver, createProviders, type ResolvedConfig } from '../configuration/config-resolver.ts'
import { placeholdersIn } from '../configuration/placeholder.ts'
import { ALL_ACCESS } from '../host-access/connector-access.ts'
import { pluginLimits } from '../isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost } from '../isolation/plugins/process-plugin-host.ts'
import { pluginSettings, type WorkerSettings, workerSettings } from '../settings.ts'

/** The same of settings whose placeholders are filled in by their own `config.providers`. */
export async function resolveSettings(written: readonly Setting[]): Promise<WorkerSettings> {
  const raw = Object.fromEntries(written.map(({ key, value }) => [key, value]))
  if (!raw['config.providers']) return workerSettings(written)
  // What is wrong in them is reported below, of all settings at once.
  const values = pluginSettings.safeParse(raw).data ?? pluginSettings.parse({})
  const plugins = await ProcessPluginHost.open({
    ...pluginLimits(values),
    access: ALL_ACCESS,
    logger: silentLogger(),
    clock: systemClock,
  })
  try {
    const resolver = new ConfigResolver(await createProviders(raw, plugins), new SecretMasker())
    return filledIn(written, await Promise.all(written.map(({ value }) => resolver.resolve({ value }))))
  } finally {
    await plugins.close()
  }
}

function filledIn(written: readonly Setting[], resolved: readonly ResolvedConfig[]): WorkerSettings {
  const settings = workerSettings(
    written.map((setting, at) => ({ ...setting, value: resolved[at]?.config['value'] ?? setting.value })),
  )
  const placeholders = resolved.flatMap(({ placeholderValues: filledIn }) =>
    [...filledIn.keys()].flatMap(placeholdersIn),
  )
  return {
    ...settings,
    secrets: [...settings.secrets, ...resolved.flatMap(({ placeholderValues: filledIn }) => [...filledIn.values()])],
    ownVariables: placeholders.map(({ key }) => key),
  }
}
