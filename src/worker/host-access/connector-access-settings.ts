import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { CODE_DIRECTORY, PACKAGE_DIRECTORY } from '../../common/program-files.ts'
import { requiresAuthentication } from '../../http/access-control-settings.ts'
import type { WorkerSettings } from '../settings.ts'
import { AddressRules, DENIED_BY_DEFAULT } from './address-rules.ts'
import type { ConnectorAccess } from './connector-access.ts'

/** Weir's code and its dependencies. */
const INSTALLATION = [CODE_DIRECTORY, ...['node_modules', 'package.json'].map((name) => join(PACKAGE_DIRECTORY, name))]

/** Contain the environments and open files of all processes, and the tokens of pods. */
const SYSTEM = ['/proc', '/sys', '/var/run/secrets/kubernetes.io', '/run/secrets/kubernetes.io']

/**
 * The access of connectors by the worker's settings. Without authentication, anyone who can reach the worker can do
 * anything, so access is restricted only if a setting requires it. `ownFiles` are the worker's configuration file and
 * data directory. Throws a `UserError` for an invalid entry.
 */
export function connectorAccess(settings: WorkerSettings, ownFiles: readonly string[] = []): ConnectorAccess {
  const { values } = settings
  const classes = { allowed: values['connector.classes.allowed'], denied: values['connector.classes.denied'] }
  const isGuarded = requiresAuthentication(values)
  const paths = values['connector.paths.allowed']
  const urls = { allowed: values['connector.urls.allowed'], denied: values['connector.urls.denied'] }
  const listeners = values['connector.listeners.allowed']
  const isRestricted = [paths, urls.allowed, urls.denied, listeners].some((setting) => setting !== undefined)
  if (!isGuarded && !isRestricted) return { classes, host: undefined, ownVariables: [] }
  const addresses = { allowed: urls.allowed, denied: urls.denied ?? (isGuarded ? DENIED_BY_DEFAULT : []) }
  // Throws for invalid entries, so that the worker reports them at its start and not its tasks later.
  void new AddressRules(addresses)
  return {
    classes,
    ownVariables: settings.ownVariables ?? [],
    host: {
      paths: {
        allowed: paths ?? (isGuarded ? [] : undefined),
        own: [...ownFilesOf(settings), ...ownFiles.map((path) => resolve(path))],
      },
      addresses,
      listeners: { allowed: listeners, ownPorts: ownPorts(settings) },
    },
  }
}

/** Files that the settings name, plugins, program code, and files with credentials of the process. */
function ownFilesOf({ values, rest }: WorkerSettings): readonly string[] {
  const named = Object.entries({ ...values, ...rest })
    .filter(([key, value]) => FILE_SETTING.test(key) && typeof value === 'string' && value !== '')
    .map(([, value]) => resolve(String(value)))
  const variables = ['KUBECONFIG', 'GOOGLE_APPLICATION_CREDENTIALS', 'AWS_WEB_IDENTITY_TOKEN_FILE']
  const pointed = variables.flatMap((name) => (process.env[name] ?? '').split(':')).filter((path) => isAbsolute(path))
  const plugins = values['plugin.path'].map((path) => resolve(path))
  return [...named, ...pointed, ...plugins, ...kubeDirectories(), ...INSTALLATION, ...SYSTEM]
}

/** A container's user may have no entry in /etc/passwd, and so no home directory unless HOME is set. */
function kubeDirectories(): readonly string[] {
  try {
    return [join(homedir(), '.kube')]
  } catch {
    return []
  }
}

const FILE_SETTING = /\.(?:file|location)$/

function ownPorts({ values }: WorkerSettings): readonly number[] {
  const listeners = [...values.listeners, ...(values['admin.listeners'] ?? [])]
  const ports = listeners.map((listener) => Number(/:(\d+)\/?$/.exec(listener)?.[1] ?? 0))
  return [...ports, values['rest.advertised.port'] ?? 0].filter((port) => port > 0)
}
