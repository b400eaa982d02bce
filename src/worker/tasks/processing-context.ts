/** The stage in which a record failed, named as in Kafka Connect. */
export type Stage =
  | 'TRANSFORMATION'
  | 'KEY_CONVERTER'
  | 'VALUE_CONVERTER'
  | 'HEADER_CONVERTER'
  | 'TASK_PUT'
  | 'TASK_POLL'
  | 'KAFKA_PRODUCE'
  | 'KAFKA_CONSUME'

/** The stage and the plugin that process a record at present. They are reported when the plugin throws. */
export type ProcessingContext = { stage: Stage; className: string }

export function enterStage(context: ProcessingContext, stage: Stage, className: string): void {
  context.stage = stage
  context.className = className
}
