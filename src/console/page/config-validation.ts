import { useEffect, useState } from 'preact/hooks'
import { send } from './api.ts'
import { pathSegment } from './path-segment.ts'
import type { ConfigReport, ConnectorConfig } from './wire.ts'

export type ConfigValidation = {
  /** Of the last configuration that could be validated. */
  readonly report: ConfigReport | undefined
  /** Why the configuration could not be validated, such as a class that is not installed. */
  readonly error: string | undefined
  /** Whether the report is of an older configuration. */
  readonly isOutdated: boolean
}

/** A validation may connect to the system of the connector, so it waits until somebody pauses typing. */
const TYPING_PAUSE_MS = 400

/** Validates a configuration on the worker when it changes, with the definitions of all keys. */
export function useValidation(basePath: string, config: ConnectorConfig | undefined): ConfigValidation {
  const text = config && JSON.stringify(config)
  const [known, setKnown] = useState<{ text?: string; report?: ConfigReport; error?: string }>({})
  useEffect(() => {
    const className = config?.['connector.class']
    if (text === undefined || !className) return undefined
    const controller = new AbortController()
    const validate = async () => {
      try {
        const path = `${basePath}/connector-plugins/${pathSegment(className)}/config/validate`
        const response = await send('PUT', path, { body: JSON.parse(text), signal: controller.signal })
        setKnown({ text, report: (await response.json()) as ConfigReport })
      } catch (error) {
        if (controller.signal.aborted) return
        const message = error instanceof Error ? error.message : String(error)
        setKnown(({ report }) => ({ text, error: message, ...(report && { report }) }))
      }
    }
    const timer = setTimeout(() => void validate(), known.text === undefined ? 0 : TYPING_PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [basePath, text])
  return { report: known.report, error: known.error, isOutdated: known.text !== text }
}
