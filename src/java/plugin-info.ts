import { z } from '../sdk/index.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

const settings = z.object({}).catchall(z.string())

/** The common part of a Java plugin as a plugin of the SDK. Its configuration is validated in the host. */
export function pluginInfo(description: JavaPluginDescription) {
  const { class: name, version } = description
  return { class: name, version, summary: `A Java ${description.kind.replace('_', ' ')}.`, config: settings }
}
