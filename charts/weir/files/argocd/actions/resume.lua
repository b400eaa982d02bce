obj.spec.state = "Running"
return obj
